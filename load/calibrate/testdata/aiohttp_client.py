"""A client as Python benchmarks of inference servers write theirs: aiohttp, a task for each stream, json.loads for each
event, time.perf_counter when it is there. It prints its figures as a result block that bench reads.

    bench calibrate --client 'python3 load/calibrate/testdata/aiohttp_client.py {url} {streams} {tokens}'
"""
import asyncio
import json
import sys
import time

import aiohttp


async def stream(session, url, tokens):
    body = {"model": "calibrate", "prompt": "x", "max_tokens": tokens, "stream": True,
            "stream_options": {"include_usage": True}}
    sent = last = time.perf_counter()
    ttft, gaps, rest = None, [], b""
    async with session.post(url + "/v1/completions", json=body) as response:
        async for piece in response.content.iter_any():
            *events, rest = (rest + piece).split(b"\n\n")
            for event in events:
                data = event.removeprefix(b"data: ").decode()
                choices = [] if data == "[DONE]" else json.loads(data)["choices"]
                if not choices or not choices[0].get("text"):
                    continue
                now = time.perf_counter()
                if ttft is None:
                    ttft = now - sent
                else:
                    gaps.append(now - last)
                last = now
    return ttft, gaps, last - sent


async def main(url, streams, tokens):
    limits = aiohttp.TCPConnector(limit=streams, force_close=True)
    async with aiohttp.ClientSession(connector=limits, timeout=aiohttp.ClientTimeout(total=600)) as session:
        began = time.perf_counter()
        answers = await asyncio.gather(*(stream(session, url, tokens) for _ in range(streams)))
        took = time.perf_counter() - began

    ttft, itl = sorted(a[0] for a in answers), sorted(g for a in answers for g in a[1])
    e2el = sorted(a[2] for a in answers)

    def line(label, value):
        print(f"{label:<40} {value:<10.2f}")

    print("============ Serving Benchmark Result ============")
    line("Successful requests:", len(answers))
    line("Benchmark duration (s):", took)
    line("Total generated tokens:", len(ttft) + len(itl))
    line("Output token throughput (tok/s):", (len(ttft) + len(itl)) / took)
    for name, sample in ("TTFT", ttft), ("ITL", itl), ("E2EL", e2el):
        line(f"Median {name} (ms):", 1e3 * sample[(len(sample) - 1) // 2])
        line(f"P99 {name} (ms):", 1e3 * sample[int(0.99 * (len(sample) - 1))])
    print("==================================================")


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
