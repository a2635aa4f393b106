"""Time to load a page of 100 kB over a lossy satellite link, with and without ARQ."""

import clift

phy = clift.channel.gilbert_elliott(
    slots=700_000, slot_ns=1_003_802, alpha=0.9898, beta=0.5, decode_ns=36_000_000, seed=1
)
for scheme in (clift.NoScheme(), clift.Arq(), clift.Harq2(10, 12)):
    link = clift.tmt.apply(phy, scheme, rtt_ms=500)
    page = clift.Scenario(link, transport="cubic", file_bytes=100_000)
    runs = clift.run_many([page.replace(start_offset_s=start) for start in range(0, 500, 10)])
    times = [run.completion_s for run in runs if run.completion_s is not None]
    mean = sum(times) / len(times) if times else float("nan")
    print(f"{scheme!s:12}  {len(times)} of {len(runs)} pages, {mean:5.2f} s on average")
