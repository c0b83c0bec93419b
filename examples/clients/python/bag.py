#!/usr/bin/env python3
"""A client of Mutirao's broker: submits bags of tasks, follows them, fetches what they made, cancels them.

Results are JSON on standard output, one object a line; `bag.py COMMAND --help` tells the options.
"""

import argparse
import json
import os
import pathlib
import sys
import time
import uuid

import grpc

from mutirao.broker.v1 import broker_pb2, broker_pb2_grpc
from mutirao.common.v1 import common_pb2

HOME = pathlib.Path(os.environ.get("MUTIRAO_HOME", "~/.mutirao")).expanduser()
ENDS = ("job.finished", "job.failed", "job.cancelled")
EXIT_STATUS = {broker_pb2.JOB_STATUS_FINISHED: 0, broker_pb2.JOB_STATUS_FAILED: 1, broker_pb2.JOB_STATUS_CANCELLED: 4}

PAUSE = 0.5  # Seconds before a broker that is away is asked again.
PATIENCE = 20  # Seconds until a call is given up.


class Broker:
    """The calls that this program needs, with the user's credentials and a deadline."""

    def __init__(self, address, token_file, ca=None, cert=None, key=None):
        options = [("grpc.keepalive_time_ms", 30_000), ("grpc.max_reconnect_backoff_ms", 2_000)]
        self.metadata = None
        address = address.removeprefix("tls://")
        if ca is None:  # On this host: the token that only its owner can read.
            self.metadata = [("authorization", f"Bearer {token_file.read_text().strip()}")]
            # A broker of this host is not behind a proxy, whatever the environment (http_proxy) says.
            channel = grpc.insecure_channel(address, [*options, ("grpc.enable_http_proxy", 0)])
        else:  # From another host: both sides show certificates.
            credentials = grpc.ssl_channel_credentials(ca.read_bytes(), key and key.read_bytes(), cert and cert.read_bytes())
            channel = grpc.secure_channel(address, credentials, options)
        self.stub = broker_pb2_grpc.BrokerServiceStub(channel)

    def call(self, method, request, timeout=30):
        """Makes a call, again and again while the broker is away: each call here may be repeated, see `submit`."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return method(request, metadata=self.metadata, timeout=timeout)
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() > end:
                    raise
                time.sleep(PAUSE)

    def submit(self, command, count, outputs=(), label=""):
        """Submits tasks whose "{}" is 0, 1, ...; returns the job's number. Sent twice with the same key, it is the same job."""
        group = broker_pb2.TaskGroup(
            command=command,
            range=common_pb2.IntegerRange(first=0, count=count),
            outputs=[broker_pb2.OutputSpec(root=common_pb2.ROOT_PLAYPEN, path=path) for path in outputs],
        )
        request = broker_pb2.SubmitJobRequest(
            job=broker_pb2.JobSpec(label=label, groups=[group]), client_job_id=str(uuid.uuid4())
        )
        return self.call(self.stub.SubmitJob, request).job_id

    def follow(self, job_id, after=0):
        """Yields the events of a job behind a sequence until its end, each once, also when the broker or the network fails.

        After the broker was restored from a back-up it has another journal, whose events are counted again: they are yielded from the first on.
        """
        told = 0  # Events of the change behind `after` that have been yielded: a large change comes in several messages.
        journal = None  # The instance of the journal that `after` is of; not known before the first message.
        while True:
            try:
                had_ended = self.status(job_id) != broker_pb2.JOB_STATUS_RUNNING
                request = broker_pb2.WatchJobRequest(
                    job_id=job_id, after_sequence=after, after_event_count=told, journal_instance=journal
                )
                for message in self.stub.WatchJob(request, metadata=self.metadata):
                    journal = message.journal_instance or None
                    if not message.events:  # All that had happened so far has been told.
                        if had_ended:
                            return
                        continue
                    yield from message.events
                    after, told = message.last_sequence, message.last_event_count
                    if message.events[-1].type in ENDS:
                        return
            except grpc.RpcError as error:
                if error.code() == grpc.StatusCode.OUT_OF_RANGE:
                    print(f"the broker has another journal, starting over: {error.details()}", file=sys.stderr)
                    after, told, journal = 0, 0, None
                    continue
                if error.code() != grpc.StatusCode.UNAVAILABLE:
                    raise
                print(f"the broker is away, asking again from {after}: {error.details()}", file=sys.stderr)
                time.sleep(PAUSE)

    def status(self, job_id):
        return self.call(self.stub.GetJob, broker_pb2.GetJobRequest(job_id=job_id)).job.status

    def output(self, job_id, task_index):
        """What a task printed, and the files that it brought home. Begins again if the task runs again meanwhile."""
        while True:
            try:
                return self.read_output(broker_pb2.GetTaskOutputRequest(job_id=job_id, task_index=task_index))
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.ABORTED:
                    raise

    def read_output(self, request):
        page = output = self.call(self.stub.GetTaskOutput, request)
        while page.HasField("next_page_token"):  # An answer holds 2 MiB at most, since gRPC takes messages of 4 MiB.
            request.page_token = page.next_page_token
            page = self.call(self.stub.GetTaskOutput, request)
            output.standard_output += page.standard_output
            output.standard_error += page.standard_error
            output.files.extend(page.files)
        return output

    def download(self, content, path):
        """Writes a content that the broker keeps into a file."""

        def write(request, **how):
            with path.open("wb") as file:
                for message in self.stub.DownloadBlob(request, **how):
                    file.write(message.data)

        path.parent.mkdir(parents=True, exist_ok=True)
        self.call(write, broker_pb2.DownloadBlobRequest(sha256=content.sha256), timeout=3600)

    def cancel(self, job_id, reason):
        self.call(self.stub.CancelJob, broker_pb2.CancelJobRequest(job_id=job_id, reason=reason))


def tell(**facts):
    print(json.dumps(facts), flush=True)


def submit(broker, args):
    tell(job=broker.submit(args.command, args.count, args.get, args.label))


def follow(broker, args):
    for event in broker.follow(args.job, args.after):
        tell(sequence=event.sequence, type=event.type, tasks=list(event.task_indexes), machine=event.machine_id, reason=event.reason)
        if event.type == "tasks.finished":
            for index in event.task_indexes:
                try:
                    fetch(broker, args, index)
                except grpc.RpcError as error:
                    if error.code() != grpc.StatusCode.NOT_FOUND:
                        raise
                    # The broker was restored from a back-up meanwhile: the task runs again, and its events come again.
                    print(f"skipping an output: {error.details()}", file=sys.stderr)
    return EXIT_STATUS[broker.status(args.job)]


def fetch(broker, args, index):
    output = broker.output(args.job, index)
    paths = []
    for file in output.files:
        path = args.into / str(index) / file.path
        if not path.resolve().is_relative_to(args.into.resolve()):
            raise ValueError(f"the broker names {file.path}, which is outside of {args.into}")
        broker.download(file.content, path)
        paths.append(str(path))
    tell(task=index, output=output.standard_output.decode(errors="replace"), files=paths)


def cancel(broker, args):
    broker.cancel(args.job, args.reason)


def parse_arguments():
    access = argparse.ArgumentParser(add_help=False)
    access.add_argument("--broker", metavar="ADDRESS", help="default: what the broker of MUTIRAO_HOME wrote down")
    access.add_argument("--token", type=pathlib.Path, default=HOME / "token", metavar="FILE", help="for a broker on this host")
    for name, what in (("ca", "the authority"), ("cert", "your certificate"), ("key", "its key")):
        access.add_argument(f"--{name}", type=pathlib.Path, metavar="FILE", help=f"PEM, for a broker on another host: {what}")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("submit", parents=[access], help="submits a bag of tasks and tells its number")
    command.add_argument("--count", type=int, default=1, help="how many tasks")
    command.add_argument("--get", action="append", default=[], metavar="PATH", help="a file or folder that each task makes")
    command.add_argument("--label", default="from Python")
    command.add_argument("command", help='a line for the shell; "{}" stands for 0, 1, ...')
    command.set_defaults(run=submit)

    command = commands.add_parser("follow", parents=[access], help="tells the events of a job and fetches outputs, until its end")
    command.add_argument("--after", type=int, default=0, metavar="SEQUENCE", help="go on behind this event")
    command.add_argument("--into", type=pathlib.Path, default=pathlib.Path("outputs"), metavar="FOLDER", help="where files go")
    command.add_argument("job", type=int)
    command.set_defaults(run=follow)

    command = commands.add_parser("cancel", parents=[access], help="cancels a job")
    command.add_argument("--reason", default="")
    command.add_argument("job", type=int)
    command.set_defaults(run=cancel)
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        address = args.broker or json.loads((HOME / "broker.json").read_text())["address"]
        broker = Broker(address, args.token, args.ca, args.cert, args.key)
        return args.run(broker, args)
    except grpc.RpcError as error:
        return f"error: {error.code().name} {error.details()}"
    except (OSError, ValueError) as error:
        return f"error: {error}"
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
