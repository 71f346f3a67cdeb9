"""What the PyTorch hooks tell of process groups."""
import unittest

from hooked import Hooks, run


class Groups(Hooks):
    def test_groups_are_named_alike(self):
        trace = run("""
            import os
            import torch.distributed as dist
            for _ in range(2):
                store = dist.HashStore()
                dist.init_process_group("gloo", store=store, rank=0, world_size=1)
                dist.new_group([0])
                dist.new_group([0])
                dist.destroy_process_group()
        """)
        keys = [one[2] for one in trace.hints if one[2]]
        self.assertEqual("world", keys[0])
        self.assertEqual(6, len(set(keys)), keys)
        self.assertEqual({"0"}, {one[3] for one in trace.hints if one[2]})
        self.assertEqual(["", ""] * 6, [text for one in trace.hints if not one[2] for text in one[2:4]])

    def test_the_group_of_all_tells_the_rank(self):
        trace = run("""
            import torch.distributed as dist
            print(dist.is_initialized())
            dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        """, environment={"RANK": "5", "WORLD_SIZE": "7"})
        self.assertEqual(("0", "1"), (trace.metadata["sonde.rank"], trace.metadata["sonde.world_size"]))
        self.assertNotIn("sonde.rank", run("import torch.distributed\n").metadata)


if __name__ == "__main__":
    unittest.main()
