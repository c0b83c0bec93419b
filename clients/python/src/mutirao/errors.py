"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Optional

import grpc


class MutiraoError(Exception):
    """An error of the grid. `code` is a stable reason such as MUT_NOT_FOUND, or empty (docs/reference/errors.md lists all)."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.code))


class BrokerAway(MutiraoError):
    """The broker cannot be reached and the patience of the client is over."""


class TaskFailed(MutiraoError):
    """A task was given up: its command failed, its process was killed, or it could not be run."""

    def __init__(self, message: str, code: str = "", exit_status: Optional[int] = None, machine: str = "", stderr: str = "") -> None:
        super().__init__(message, code)
        self.exit_status = exit_status
        self.machine = machine
        self.stderr = stderr

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.code, self.exit_status, self.machine, self.stderr))


class ArgumentError(MutiraoError, ValueError):
    """A call that could not be sent as it is: a function that cannot be pickled, an unknown name in a command."""


class RemoteTraceback(Exception):
    """Stands as the cause of an exception that a function raised on another machine; its text is the traceback there."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\n{self.text}"


def from_rpc(error: grpc.RpcError) -> MutiraoError:
    """Reads the stable reason out of an error of gRPC."""
    from google.rpc import error_details_pb2, status_pb2

    code = ""
    metadata: Any = error.trailing_metadata() or ()
    for key, value in metadata:
        if key != "grpc-status-details-bin":
            continue
        status = status_pb2.Status()
        status.ParseFromString(value)
        for detail in status.details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                code = info.reason
    status_code = error.code()
    kind = BrokerAway if status_code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED) else MutiraoError
    return kind(error.details() or status_code.name, code)
