#!/usr/bin/env python3
"""Prints the events that brokers publish on NATS, each once, and goes on where it was when it is started again under the same name."""

import argparse
import asyncio
import json
import sys

import nats
from nats.errors import NoRespondersError, TimeoutError
from nats.js.api import ConsumerConfig
from nats.js.errors import NotFoundError, ServiceUnavailableError

from mutirao.event.v1 import event_pb2

PAUSE = 0.5  # Seconds before a stream that is not there is asked for again.
PATIENCE = 2  # Seconds without an event after which the server is asked whether it still has the stream.
AWAY = (TimeoutError, NoRespondersError, ServiceUnavailableError)  # A server that restarts, or has just done so.


def say(text):
    print(f"NATS: {text}", file=sys.stderr, flush=True)


async def tell(error):
    say(repr(error))


async def attach(stream, args):
    """Subscribes where the server remembers that this reader was, and says where that is; waits for a server that is away and for a stream that is not there."""
    # One at a time: what was not acknowledged comes again before anything after it, and so in its order.
    config = ConsumerConfig(max_ack_pending=1, ack_wait=2)
    said = None
    events = None
    while True:
        try:
            if events is None:
                events = await stream.subscribe(args.subject, durable=args.name, stream=args.stream, manual_ack=True, config=config)
            return events, (await events.consumer_info()).ack_floor.stream_seq
        except NotFoundError:
            events, reason = None, f"there is no stream {args.stream}; waiting for it"
        except AWAY:
            reason = "the server does not answer; waiting for it"
        if reason != said:
            say(reason)
        said = reason
        await asyncio.sleep(PAUSE)


async def is_lost(events):
    """Whether the server has no such reader any more, as after the stream was deleted. A server that is away comes back with it."""
    try:
        await events.consumer_info()
    except NotFoundError:
        return True
    except AWAY:
        pass
    return False


async def check_gap(stream, args, read):
    """Says what was removed from the stream, by a purge or its bounds, before this reader had it."""
    try:
        first = (await stream.stream_info(args.stream)).state.first_seq
    except (NotFoundError, *AWAY):
        return  # A broker that is away cannot be asked; a lost stream is reported as such.
    if 0 < read < first - 1:
        say(f"messages {read + 1} to {first - 1} of the stream were removed before they were read: events are missing")


async def messages(stream, args):
    """Yields messages for ever. Where the server has lost the stream or this reader, it says so and starts over with what there is."""
    while True:
        events, read = await attach(stream, args)
        while True:
            try:
                message = await events.next_msg(timeout=PATIENCE)
            except TimeoutError:
                if await is_lost(events):
                    say(f"stream {args.stream} or its reader {args.name} was lost, starting over with what there is: events may be missing")
                    break
                continue
            place = message.metadata.sequence.stream
            if place > read + 1:
                await check_gap(stream, args, read)
            read = place
            yield message
        await events.unsubscribe()


async def subscribe(args):
    connection = await nats.connect(args.url, max_reconnect_attempts=-1, reconnect_time_wait=0.5, error_cb=tell)
    last = {}  # The place of the last event of each source: what is not behind it is a repeat.
    async for message in messages(connection.jetstream(), args):
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
