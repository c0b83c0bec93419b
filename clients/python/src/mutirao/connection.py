"""The way to the broker: one channel, credentials, and calls that are repeated while the broker is away."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import threading
import time
from typing import Any, Callable, Iterator, Optional

import grpc

from .broker.v1 import broker_pb2 as pb
from .broker.v1 import broker_pb2_grpc
from .errors import MutiraoError, from_rpc

PIECE = 1 << 20  # Bytes of a message of an upload.
AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class Connection:
    """Calls to one broker. May be used by several threads, and again in a child after a fork."""

    def __init__(
        self,
        home: Optional[str] = None,
        broker: Optional[str] = None,
        ca: Optional[str] = None,
        cert: Optional[str] = None,
        key: Optional[str] = None,
        patience: float = 60,
    ) -> None:
        """`patience`: seconds until a call gives up a broker that is away."""
        self.home = pathlib.Path(home or os.environ.get("MUTIRAO_HOME") or "~/.mutirao").expanduser()
        self._broker = broker or os.environ.get("MUTIRAO_BROKER")
        self._files = (ca, cert, key)
        self.patience = patience
        self._lock = threading.Lock()
        self._stub: Any = None
        self._channel: Any = None
        self._pid = 0
        self.is_local = True
        self._uploaded: set[bytes] = set()
        self._closed = threading.Event()

    @property
    def stub(self) -> Any:
        with self._lock:
            if self._stub is None or self._pid != os.getpid():
                # After a fork the channel of the parent is of no use.
                self._open()
            return self._stub

    def _address(self) -> str:
        if self._broker:
            return self._broker
        path = self.home / "broker.json"
        try:
            return str(json.loads(path.read_text())["address"])
        except (FileNotFoundError, ValueError, KeyError):
            raise MutiraoError(
                f"no broker has started in {self.home}; start one with `mutirao up`, or name its home folder or address", "MUT_NOT_RUNNING"
            ) from None

    def _open(self) -> None:
        address = self._address().removeprefix("tls://")
        self.is_local = address.startswith("unix:")
        limit = 64 << 20
        options = [
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.max_reconnect_backoff_ms", 2_000),
            ("grpc.enable_http_proxy", 0),
            ("grpc.max_receive_message_length", limit),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        self._channel = (
            grpc.insecure_channel(address, options)
            if self.is_local
            # Any account of a host can listen at a port: who is there has to prove itself.
            else grpc.secure_channel(address, self._read_certificates(), options)
        )
        make_stub: Any = broker_pb2_grpc.BrokerServiceStub
        self._stub = make_stub(self._channel)
        self._pid = os.getpid()

    def _read_certificates(self) -> Any:
        """Those that were named, else those of the home folder, and the authority that MUTIRAO_CA names."""
        folder = self.home / "identity"
        given = os.environ.get("MUTIRAO_CA")
        names = [name or folder / default for name, default in zip(self._files, ("ca.crt", "user.crt", "user.key"))]
        try:
            ca, cert, key = (pathlib.Path(name).expanduser().read_bytes() for name in names)
            if given and self._files[0] is None:
                ca += b"\n" + pathlib.Path(given).expanduser().read_bytes()
        except OSError as error:
            raise MutiraoError(
                f"a broker at a port is called with certificates only, and {error.filename} cannot be read: {error.strerror}; "
                "name ca, cert and key (mutirao identity issue), or a home folder that has them",
                "MUT_BAD_CONFIG",
            ) from None
        return grpc.ssl_channel_credentials(ca, key, cert)

    @property
    def metadata(self) -> Optional[list[tuple[str, str]]]:
        """The token is read for each call: a broker that starts again has a new one. It is for sockets of this host only."""
        self.stub
        if not self.is_local:
            return None
        try:
            return [("authorization", f"Bearer {(self.home / 'token').read_text().strip()}")]
        except FileNotFoundError:
            raise MutiraoError(f"there is no token in {self.home}; expected the home folder of a broker", "MUT_NOT_RUNNING") from None

    def call(self, name: str, request: Any, timeout: float = 30, patience: Optional[float] = None) -> Any:
        """Calls a method; while the broker is away, again. Every method may be repeated: what changes something has a key."""
        return self._repeat(lambda: getattr(self.stub, name)(request, metadata=self.metadata, timeout=timeout), patience)

    def _repeat(self, attempt: Callable[[], Any], patience: Optional[float] = None) -> Any:
        end = time.monotonic() + (self.patience if patience is None else patience)
        pause = 0.05
        while True:
            try:
                return attempt()
            except MutiraoError as error:
                # A broker that was stopped takes its address with it, and writes it down again when it starts.
                if error.code != "MUT_NOT_RUNNING" or time.monotonic() + pause > end:
                    raise
            except ValueError:  # What gRPC raises on a channel that was closed.
                if not self.is_closed:
                    raise
            except grpc.RpcError as error:
                # A token of before the restart is refused until the new one has been written.
                passing = (*AWAY, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.RESOURCE_EXHAUSTED)
                if error.code() not in passing or time.monotonic() + pause > end:
                    raise from_rpc(error) from None
            if self._closed.wait(pause):
                raise MutiraoError("the grid is closed; connect again", "MUT_CANCELLED")
            pause = min(pause * 2, 2)
            self.reopen()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def reopen(self) -> None:
        """Takes the address anew: a broker that starts again may have another one."""
        if self._broker is None:
            with self._lock:
                self._stub = None

    def watch(self, request: Any) -> Any:
        return self.stub.WatchJob(request, metadata=self.metadata)

    def upload(self, data: bytes, patience: Optional[float] = None) -> Any:
        """Brings bytes to the broker, once per content and connection; answers the content."""
        digest = hashlib.sha256(data).digest()
        content = pb.InputSource(content={"sha256": digest, "size_bytes": len(data)}).content
        if digest in self._uploaded:
            return content

        def pieces() -> Iterator[Any]:
            for start in range(0, max(len(data), 1), PIECE):
                yield pb.UploadBlobRequest(data=data[start : start + PIECE])

        self._repeat(lambda: self.stub.UploadBlob(pieces(), metadata=self.metadata, timeout=3600), patience)
        self._uploaded.add(digest)
        return content

    def download(self, sha256: bytes, patience: Optional[float] = None) -> bytes:
        def attempt() -> bytes:
            stream = self.stub.DownloadBlob(pb.DownloadBlobRequest(sha256=sha256), metadata=self.metadata, timeout=3600)
            return b"".join(message.data for message in stream)

        data: bytes = self._repeat(attempt, patience)
        if hashlib.sha256(data).digest() != sha256:
            raise MutiraoError("a content arrived changed; expected the bytes that its digest names", "MUT_CONTENT_MISMATCH")
        return data

    def output(self, job_id: int, task_index: int, patience: Optional[float] = None) -> Any:
        """What a task printed and the files it brought home: all pages, once more from the start where it ran again meanwhile."""
        while True:
            try:
                request = pb.GetTaskOutputRequest(job_id=job_id, task_index=task_index)
                page = output = self.call("GetTaskOutput", request, patience=patience)
                while page.HasField("next_page_token"):
                    request.page_token = page.next_page_token
                    page = self.call("GetTaskOutput", request, patience=patience)
                    output.standard_output += page.standard_output
                    output.standard_error += page.standard_error
                    output.files.extend(page.files)
                return output
            except MutiraoError as error:
                if error.code != "MUT_PAGE_STALE":
                    raise

    def after_fork(self) -> None:
        """In a child: the locks may be held by threads that are not there."""
        self._lock = threading.Lock()
        self._stub = self._channel = None

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            if self._channel is not None and self._pid == os.getpid():
                self._channel.close()
            self._stub = self._channel = None
