// Node's ways to other processes, sockets, threads and files.
const {execSync, spawn, spawnSync, fork} = require('child_process');
const http = require('http'), net = require('net'), fs = require('fs'), zlib = require('zlib'), {Worker, isMainThread, parentPort} = require('worker_threads');
if (process.argv[2] === 'child') { process.on('message', (m) => { process.send(m * 2); process.disconnect(); }); return; }
if (!isMainThread) { parentPort.postMessage(1 + 1); return; }
const once = (emitter, name) => new Promise((resolve) => emitter.once(name, (...args) => resolve(args)));
(async () => {
  console.log('== execSync', execSync('echo a | cat | tr a b').toString(), spawnSync('sh', ['-c', 'kill -9 $$']).signal, spawnSync('/no/such').error.code);
  const cat = spawn('cat'); let got = 0; cat.stdout.on('data', (d) => got += d.length); cat.stdin.end(Buffer.alloc(500000)); await once(cat, 'close'); console.log('== spawn', got);
  const child = fork(__filename, ['child']); child.send(21); console.log('== fork', (await once(child, 'message'))[0]); console.log((await once(child, 'exit'))[0]);
  console.log('== worker', (await once(new Worker(__filename), 'message'))[0]);
  const server = http.createServer((q, r) => r.end(q.url)).listen(0, '127.0.0.1'); await once(server, 'listening');
  const body = await Promise.all([1, 2, 3].map((n) => fetch(`http://127.0.0.1:${server.address().port}/${n}`).then((r) => r.text()))); console.log('== http', body); server.closeAllConnections(); server.close();
  const unix = net.createServer((c) => c.end('unix')).listen('sock'); await once(unix, 'listening'); const c = net.connect('sock'); console.log('== unix', String((await once(c, 'data'))[0])); unix.close();
  await fs.promises.writeFile('file', 'x'.repeat(100000)); console.log('== files', (await fs.promises.readFile('file')).length, zlib.gunzipSync(zlib.gzipSync('z')).toString()); await fs.promises.cp('file', 'copy'); fs.watch('.').close();
  console.log('== descriptors', fs.readdirSync('/proc/self/fd').length > 3);
})();
