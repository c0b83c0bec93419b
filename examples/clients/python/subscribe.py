#!/usr/bin/env python3
"""Prints the events that brokers publish on NATS, each once, and goes on where it was when it is started again under the same name."""

import argparse
import asyncio
import json
import sys

import nats
from nats.js.api import ConsumerConfig

from mutirao.event.v1 import event_pb2


async def tell(error):
    print(f"NATS: {error!r}", file=sys.stderr)


async def subscribe(args):
    connection = await nats.connect(args.url, max_reconnect_attempts=-1, reconnect_time_wait=0.5, error_cb=tell)
    # One at a time: what was not acknowledged comes again before anything after it, and so in its order.
    config = ConsumerConfig(max_ack_pending=1, ack_wait=2)
    stream = connection.jetstream()
    events = await stream.subscribe(args.subject, durable=args.name, stream=args.stream, manual_ack=True, config=config)
    last = {}  # The place of the last event of each source: what is not behind it is a repeat.
    async for message in events.messages:
        source, id = message.headers["ce-source"], message.headers["ce-id"]
        place = tuple(int(part) for part in id.split("."))
        if place > last.get(source, ()):
            event = event_pb2.JobEvent.FromString(message.data)
            print(json.dumps([id, message.subject, event.type, event.job_id, list(event.task_indexes)]), flush=True)
            last[source] = place
        await message.ack()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stream", default="MUTIRAO_EVENTS")
    parser.add_argument("url", help="nats://HOST:PORT")
    parser.add_argument("name", help="under which the server remembers what was read")
    parser.add_argument("subject", nargs="?", default="mutirao.events.>")
    try:
        asyncio.run(subscribe(parser.parse_args()))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
