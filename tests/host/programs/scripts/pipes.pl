# Perl's ways to other processes and sockets.
use strict; use warnings; use Socket; use IO::Socket::INET; use IO::Select; use IPC::Open3; use POSIX qw(:sys_wait_h dup2 _exit);
$| = 1;
print "== pipe open\n";
open(my $in, '-|', 'seq 5 | sort -rn') or die; print <$in>; close $in; print "status $?\n";
open(my $out, '|-', 'tr a-z A-Z') or die; print $out "to a child\n"; close $out;
open($in, '-|') // die or do { print "from a fork\n"; exit 3 }; print <$in>; close $in; print "status ", $? >> 8, "\n";
print "== backticks and system\n";
my $x = `echo back | cat`; print $x; system('exit 5;'); print $? >> 8, "\n"; system('no-such-command-here') == -1 and print "none\n";
print "== open3\n";
my $pid = open3(my $to, my $from, undef, 'cat; echo err >&2'); print $to "three\n"; close $to; print sort <$from>; waitpid $pid, 0; print "$?\n";
print "== fork and pipes\n";
my @ends;
for my $n (1 .. 12) { pipe(my $r, my $w); if (!fork) { close $r; print $w "child $n\n"; close $w; _exit($n) } close $w; push @ends, $r }
print <$_> for @ends; my $sum = 0; while ((my $p = wait) > 0) { $sum += $? >> 8 } print "$sum\n";
print "== socketpair\n";
socketpair(my $near, my $far, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die; if (!fork) { close $near; my $l = <$far>; print $far "re: $l"; close $far; _exit(0) }
close $far; syswrite $near, "hello\n"; print scalar <$near>; close $near; wait;
print "== tcp\n";
my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die; my $port = $server->sockport;
for my $n (1 .. 4) { next if fork; my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port); print $c "client $n\n"; shutdown $c, 1; my $l = <$c>; _exit(length $l) }
my @said; for (1 .. 4) { my $c = $server->accept; my $l = <$c>; push @said, $l; print $c "echo $l"; close $c } print sort @said; 1 while wait > 0; print "$?\n";
print "== udp\n";
my $u = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1'); my $v = IO::Socket::INET->new(Proto => 'udp', PeerAddr => '127.0.0.1', PeerPort => $u->sockport);
$v->send('datagram'); $u->recv(my $d, 100); print "$d\n";
print "== select\n";
pipe(my $r, my $w); my $s = IO::Select->new($r); print scalar(my @none = $s->can_read(0.05)), "\n"; syswrite $w, 'x'; print scalar(my @one = $s->can_read(1)), "\n"; close $w; close $r;
print "== signals\n";
local $SIG{USR1} = sub { print "usr1\n" }; kill USR1 => $$; local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 5; }; print $@;
local $SIG{CHLD} = sub { print "child\n" }; if (!fork) { _exit(0) } wait; local $SIG{PIPE} = sub { print "pipe\n" }; pipe($r, $w); close $r; syswrite($w, 'x') // print "error: $!\n";
print "== descriptors\n";
open(my $dup, '>&', \*STDOUT) or die; syswrite $dup, "dup\n"; close $dup; dup2(1, 17); open(my $f, '>&=', 17); syswrite $f, "seventeen\n"; close $f;
print POSIX::close(-1) // "undef: $!", "\n"; print POSIX::close(999) // "undef: $!", "\n"; print dup2(-1, 5) // "undef: $!", "\n"; print POSIX::read(-1, my $buffer, 1) // "undef: $!", "\n";
opendir(my $fds, '/proc/self/fd'); print join(' ', sort { $a <=> $b } grep { /\d/ && -e "/proc/self/fd/$_" } readdir $fds), "\n";
