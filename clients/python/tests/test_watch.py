"""The stream of events, without a broker."""

import threading

import grpc

from mutirao.broker.v1 import broker_pb2 as pb
from mutirao.errors import MutiraoError
from mutirao.watch import Watcher

PATIENCE = 30


class Away(grpc.RpcError):
    def code(self):
        return grpc.StatusCode.UNAVAILABLE


class Stream(list):
    def cancel(self):
        pass


class Connection:
    """Streams that begin, say what they hold, and break."""

    def __init__(self, *messages):
        self.messages = messages
        self.began = 0

    def watch(self, request):
        self.began += 1
        if self.began == 2:
            raise Away()
        return Stream(self.messages)

    def reopen(self):
        pass


class Job:
    def __init__(self, job_id, failure=None):
        self.id = job_id
        self.failure = failure
        self.read_twice, self.lost, self.heard = threading.Event(), threading.Event(), threading.Event()
        self.reads = 0

    def _reconcile(self):
        self.reads += 1
        if self.reads == 2:
            self.read_twice.set()
        if self.failure is not None:
            raise self.failure

    def _hear(self, event):
        self.heard.set()

    def _lose(self, error):
        assert error is self.failure
        self.lost.set()


def test_jobs_read_what_they_missed_each_time_that_the_stream_begins():
    watcher = Watcher(Connection(pb.WatchJobResponse()))
    job = Job(1)
    watcher.add(job)
    assert job.read_twice.wait(PATIENCE)
    watcher.close()


def test_a_job_that_the_broker_does_not_have_is_lost_alone():
    event = pb.WatchJobResponse(events=[pb.JobEvent(job_id=2, type="tasks.started")])
    watcher = Watcher(Connection(pb.WatchJobResponse(), event))
    lost, other = Job(1, MutiraoError("no such job", "MUT_NOT_FOUND")), Job(2)
    watcher.add(lost)
    watcher.add(other)
    assert lost.lost.wait(PATIENCE) and other.read_twice.wait(PATIENCE) and other.heard.wait(PATIENCE)
    watcher.close()
