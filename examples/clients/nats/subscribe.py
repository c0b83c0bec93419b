"""Follows the events that a broker publishes on NATS (docs/events.md), and goes on where it was when it is started again.

Usage: subscribe.py URL NAME STUBS [SUBJECT]     (needs nats-py; STUBS holds event_pb2.py, made from proto/ by protoc)
"""

import asyncio
import json
import sys

import nats
from nats.js.api import ConsumerConfig

url, name, stubs, subject = (sys.argv[1:] + ["mutirao.events.>"])[:4]
sys.path.insert(0, stubs)
from mutirao.event.v1 import event_pb2  # noqa: E402


async def tell(error):
    print(f"NATS: {error!r}", file=sys.stderr)


async def main():
    connection = await nats.connect(url, max_reconnect_attempts=-1, reconnect_time_wait=0.5, error_cb=tell)
    # One at a time: what was not acknowledged comes again before anything after it, and so in its order.
    config = ConsumerConfig(max_ack_pending=1, ack_wait=2)
    stream = connection.jetstream()
    events = await stream.subscribe(subject, durable=name, stream="MUTIRAO_EVENTS", manual_ack=True, config=config)
    last = {}  # The place of the last event of each source: what is not behind it is a repeat.
    async for message in events.messages:
        source, id = message.headers["ce-source"], message.headers["ce-id"]
        place = tuple(int(part) for part in id.split("."))
        if place > last.get(source, ()):
            event = event_pb2.JobEvent.FromString(message.data)
            print(json.dumps([id, message.subject, event.type, event.job_id, list(event.task_indexes)]), flush=True)
            last[source] = place
        await message.ack()


asyncio.run(main())
