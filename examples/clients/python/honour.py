#!/usr/bin/env python3
"""A resource manager of someone else's: runs a command inside a reservation of Mutirao's reservation manager, on what was reserved, and at no other time.

Exit status: the command's own; 143 or 129 when this program receives SIGTERM or SIGHUP, which also ends its command; 3 where the claim is refused, 4 where the reservation was taken back, 5 where its time was over before the command.
"""

import argparse
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import grpc
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from mutirao.reservation.v1 import reservation_service_pb2 as messages
from mutirao.reservation.v1 import reservation_service_pb2_grpc as services

HOME = pathlib.Path(os.environ.get("MUTIRAO_HOME", "~/.mutirao")).expanduser()
SUPERSEDED = "MUT_CLAIM_SUPERSEDED"
AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

ASK = 1  # Seconds between two questions whether the reservation still stands.
GRACE = 2  # Seconds that a command has to end after SIGTERM.
REPORTED_TO_END = (signal.SIGTERM, signal.SIGHUP)

# Binds the command to its parent and to its units, in a Python of its own, and then becomes it. Popen's preexec_fn would do this in a fork of a process
# whose gRPC is at work, and such a fork aborts now and then. What the command starts in its turn is left when it is killed; a service of systemd ends that, too.
BEGIN = """
import ctypes, os, signal, sys
parent, units, *command = sys.argv[1:]
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(parent):
    sys.exit("error: who started this is gone")
for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(ignored, signal.SIG_DFL)
try:
    if units:
        os.sched_setaffinity(0, [int(unit) for unit in units.split(",")])
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"error: {command[0]}: {error}")
"""


class Refused(Exception):
    """The claim is not good here, or not good any more."""


class Manager:
    """The reservation manager, as the owner of a resource sees it."""

    def __init__(self, address, token_file, resource):
        self.metadata = [("authorization", f"Bearer {token_file.read_text().strip()}")]
        # A manager of this host is not behind a proxy, whatever the environment (http_proxy) says.
        self.stub = services.ReservationServiceStub(grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)]))
        self.resource = resource

    def call(self, method, request):
        """The answer; None while the manager is away."""
        try:
            return getattr(self.stub, method)(request, metadata=self.metadata, timeout=5)
        except grpc.RpcError as error:
            if error.code() in AWAY:
                print(f"the reservation manager is away: {error.details()}", file=sys.stderr)
                return None
            raise

    def keys(self, kept):
        """Public keys by their ids. Those that were told first are kept: from then on claims can be verified without asking."""
        if not kept.exists():
            told = self.call("GetClaimKeys", messages.GetClaimKeysRequest())
            if told is None:
                raise Refused("no key to verify claims with is known yet")
            kept.write_text(json.dumps({key.key_id: key.public_key_pem for key in told.keys}))
        return {key_id: load_pem_public_key(pem.encode()) for key_id, pem in json.loads(kept.read_text()).items()}

    def check(self, claim, user):
        """Asks whether the reservation stands, and answers the claim that took the place of this one; this one where none did. While the manager is away the signature and its dates have to do."""
        answer = self.call("VerifyReservation", messages.VerifyReservationRequest(claim=claim, resource_id=self.resource, user_id=user))
        if answer is None or answer.valid or answer.code == "MUT_CLAIM_EARLY":
            return claim
        if answer.code == SUPERSEDED and answer.present_claim:
            return answer.present_claim
        raise Refused(f"{answer.code} {answer.message}")

    def begin(self, claim, user, key):
        """Begins the use; the same key is the same use, so that it may be asked for again after a crash. False while the manager is away: it does not know of it yet."""
        answer = self.call(
            "ClaimReservation",
            messages.ClaimReservationRequest(claim=claim, resource_id=self.resource, user_id=user, client_request_id=key),
        )
        return answer is not None

    def release(self, reservation):
        """Gives back what is left of the reservation's time."""
        self.call("ReleaseReservation", messages.ReleaseReservationRequest(reservation_id=reservation))


def decode(part):
    """The bytes of a part, where it is their one spelling: the last letter has bits that belong to no byte."""
    read = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(read).rstrip(b"=").decode() != part:
        raise ValueError("it was changed by a letter")
    return read


def read_claim(text, keys, resource, user):
    """What a claim says, where it is signed with one of the keys and is for this resource and user. Asks nobody."""
    try:
        header, payload, signature = text.split(".")
        head = json.loads(decode(header))
        if head["alg"] != "EdDSA":
            raise ValueError("it is signed otherwise")
        keys[head["kid"]].verify(decode(signature), f"{header}.{payload}".encode())
        said = json.loads(decode(payload))
    except (ValueError, KeyError, TypeError, InvalidSignature) as error:
        raise Refused("the claim is not signed by the reservation manager") from error
    if said["aud"] != resource:
        raise Refused(f"the claim is for {said['aud']} and was shown at {resource}")
    if said["sub"] != user:
        raise Refused(f"the claim is {said['sub']}'s and was shown by {user}")
    if said["end_unix_ms"] <= now():
        raise Refused("the reservation is over")
    return said


def now():
    """Milliseconds since the epoch."""
    return time.time() * 1000


class Use:
    """The use of one reservation, which its manager may end earlier than its claim said, as it does for a maintenance that is announced."""

    def __init__(self, args):
        self.manager = Manager(args.reservations, args.token, args.resource)
        self.keys = self.manager.keys(args.keys)
        self.resource, self.user = args.resource, args.user
        self.claim = args.claim.read_text().strip()
        self.said = read_claim(self.claim, self.keys, self.resource, self.user)
        self.key = f"{self.resource} {self.said['jti']}"
        self.is_announced = False

    def still_stands(self):
        """Continues with the claim that replaced this one, if it has the same units and start, up to its end."""
        present = self.manager.check(self.claim, self.user)
        if present == self.claim:
            return
        said = read_claim(present, self.keys, self.resource, self.user)
        if any(said[name] != self.said[name] for name in ("start_unix_ms", "amount", "units")):
            raise Refused(f"{SUPERSEDED} the reservation has another start or other units now: show its new claim")
        self.claim, self.said = present, said
        print(f"the reservation ends at {time.ctime(said['end_unix_ms'] / 1000)} now", file=sys.stderr)

    def in_use(self):
        """Reports the use until the manager knows it: an unreported claim is given back, and what runs in it ends."""
        self.still_stands()
        self.is_announced = self.is_announced or self.manager.begin(self.claim, self.user, self.key)

    def left(self):
        """Seconds to its end, as that is now."""
        return (self.said["end_unix_ms"] - now()) / 1000

    def release(self):
        """Gives back what is left of it."""
        self.manager.release(int(self.said["jti"].split(".")[0]))


def wait_for_start(use):
    while (left := use.said["start_unix_ms"] - now()) > 0:
        use.still_stands()
        time.sleep(min(ASK, left / 1000))


def list_units(text):
    """The numbers in "0-3,7"."""
    units = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        units += range(int(first), int(last or first) + 1)
    return units


def run(command, use, pin):
    """Runs the command until it ends, or until the reservation does; answers the exit status."""
    said = use.said
    environment = {
        **os.environ,
        "RESERVED_UNITS": said["units"],
        "RESERVED_AMOUNT": str(said["amount"]),
        "RESERVED_UNTIL_UNIX_MS": str(said["end_unix_ms"]),
    }

    units = ",".join(map(str, list_units(said["units"]))) if pin else ""
    begin = [sys.executable, "-I", "-S", "-c", BEGIN, str(os.getpid()), units]
    child = subprocess.Popen([*begin, *command], env=environment, start_new_session=True)
    try:
        while True:
            left = use.left()
            if left <= 0:
                print("the reservation is over", file=sys.stderr)
                return 5
            try:
                status = child.wait(min(ASK, left))
                return status if status >= 0 else 128 - status
            except subprocess.TimeoutExpired:
                use.in_use()
    finally:
        end(child)


def end(child):
    """Tells the command and all that it started to end, and sees to it that they do."""
    for told in REPORTED_TO_END:
        signal.signal(told, signal.SIG_IGN)
    for signal_number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(child.pid, signal_number)
            child.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def honour(args):
    use = Use(args)
    use.still_stands()
    wait_for_start(use)
    use.in_use()
    try:
        status = run(args.command, use, args.pin)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        # A manager whose clock is a moment ahead says that it is over, and so it is.
        return 4 if use.left() > 0 else 5
    if status != 5:
        use.release()
    return status


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reservations", metavar="ADDRESS", help="default: what the reservation manager of MUTIRAO_HOME wrote down")
    parser.add_argument("--token", type=pathlib.Path, default=HOME / "token", metavar="FILE", help="of the owner of the resource")
    parser.add_argument("--keys", type=pathlib.Path, default=pathlib.Path("claim-keys.json"), metavar="FILE", help="where the keys of claims are kept")
    parser.add_argument("--resource", required=True, help="what this resource is called at the reservation manager")
    parser.add_argument("--user", required=True, help="who shows the claim")
    parser.add_argument("--claim", required=True, type=pathlib.Path, metavar="FILE", help='as "mutirao reservation show" prints it')
    parser.add_argument("--pin", action="store_true", help="the units are processors of this machine: run on these alone")
    parser.add_argument("command", nargs="+", help="after --; RESERVED_UNITS says on what, as 0-3,7")
    return parser.parse_args()


def main():
    args = parse_arguments()
    for told in REPORTED_TO_END:
        signal.signal(told, lambda number, frame: sys.exit(128 + number))
    try:
        if args.reservations is None:
            args.reservations = json.loads((HOME / "reservations/local/reservations.json").read_text())["address"]
        return honour(args)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except grpc.RpcError as error:
        print(f"error: {error.code().name} {error.details()}", file=sys.stderr)
        return 3
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
