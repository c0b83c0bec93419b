"""Drives a broker through its published API alone: stubs are generated from proto/ by the test that starts this program.

Usage: client.py ADDRESS TOKEN_FILE STUBS_FOLDER
Prints one JSON object: what it submitted, saw and fetched.
"""

import json
import sys
import uuid

address, token_file, stubs = sys.argv[1:4]
sys.path.insert(0, stubs)

import grpc  # noqa: E402
from mutirao.broker.v1 import broker_pb2, broker_pb2_grpc  # noqa: E402
from mutirao.common.v1 import common_pb2  # noqa: E402

with open(token_file, encoding="utf-8") as file:
    metadata = (("authorization", f"Bearer {file.read().strip()}"),)

channel = grpc.insecure_channel(address)
broker = broker_pb2_grpc.BrokerServiceStub(channel)


def submit(command, count, **more):
    group = broker_pb2.TaskGroup(range=common_pb2.IntegerRange(first=1, count=count), command=command)
    job = broker_pb2.JobSpec(label="from python", groups=[group], **more)
    request = broker_pb2.SubmitJobRequest(job=job, client_job_id=str(uuid.uuid4()))
    first = broker.SubmitJob(request, metadata=metadata, timeout=20)
    again = broker.SubmitJob(request, metadata=metadata, timeout=20)
    assert first.job_id == again.job_id, "the same client id was another job"
    return first.job_id


def watch(job_id):
    """Follows a job to its end, through a reconnect after each message."""
    after, finished, types = 0, [], []
    while True:
        stream = broker.WatchJob(
            broker_pb2.WatchJobRequest(job_id=job_id, after_sequence=after), metadata=metadata, timeout=60
        )
        message = next(stream)
        stream.cancel()
        for event in message.events:
            after = max(after, event.sequence)
            types.append(event.type)
            if event.type == "tasks.finished":
                finished.extend(event.task_indexes)
            if event.type in ("job.finished", "job.failed", "job.cancelled"):
                return finished, types


job_id = submit("echo from-{}", 20)
finished, types = watch(job_id)
output = broker.GetTaskOutput(
    broker_pb2.GetTaskOutputRequest(job_id=job_id, task_index=6), metadata=metadata, timeout=20
)

long_job_id = submit("sleep 600", 3)
broker.CancelJob(broker_pb2.CancelJobRequest(job_id=long_job_id, reason="enough"), metadata=metadata, timeout=20)
cancelled = broker.WaitJob(broker_pb2.WaitJobRequest(job_id=long_job_id), metadata=metadata, timeout=60)

refusals = {}
for name, call in {
    "no token": lambda: broker.ListJobs(broker_pb2.ListJobsRequest(), timeout=20),
    "wrong token": lambda: broker.ListJobs(
        broker_pb2.ListJobsRequest(), metadata=(("authorization", "Bearer nonsense"),), timeout=20
    ),
    "no such job": lambda: broker.GetJob(broker_pb2.GetJobRequest(job_id=999999), metadata=metadata, timeout=20),
    "no tasks": lambda: broker.SubmitJob(
        broker_pb2.SubmitJobRequest(job=broker_pb2.JobSpec(label="empty")), metadata=metadata, timeout=20
    ),
}.items():
    try:
        call()
        refusals[name] = "accepted"
    except grpc.RpcError as error:
        refusals[name] = error.code().name

print(
    json.dumps(
        {
            "finished": sorted(finished),
            "types": sorted(set(types)),
            "output": output.standard_output.decode(),
            "cancelled": broker_pb2.JobStatus.Name(cancelled.job.status),
            "refusals": refusals,
        }
    )
)
