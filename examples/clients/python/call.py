#!/usr/bin/env python3
"""Calls any method of any process of Mutirao without generated code: what the process serves is learnt by server reflection.

Without a method it prints the methods. With one it prints the answer as JSON, an object a line where there are several.
"""

import argparse
import json
import os
import pathlib
import sys

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

HOME = pathlib.Path(os.environ.get("MUTIRAO_HOME", "~/.mutirao")).expanduser()
PATIENCE = 30  # Seconds until a call with a single answer is given up. A stream may last for days.


class WithToken(grpc.StreamStreamClientInterceptor):
    """Shows the token with the calls of reflection too, whose library has no place for it."""

    def __init__(self, token):
        self.metadata = [("authorization", f"Bearer {token}")]

    def intercept_stream_stream(self, proceed, details, requests):
        is_reflection = details.method.startswith("/grpc.reflection.")
        return proceed(details._replace(metadata=self.metadata, timeout=PATIENCE if is_reflection else details.timeout), requests)


def connect(address, token_file, ca=None, cert=None, key=None):
    address = address.removeprefix("tls://")
    if ca is None:  # On this host: the token that only its owner can read.
        channel = grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)])
        return grpc.intercept_channel(channel, WithToken(token_file.read_text().strip()))
    credentials = grpc.ssl_channel_credentials(ca.read_bytes(), key and key.read_bytes(), cert and cert.read_bytes())
    return grpc.secure_channel(address, credentials)


def find_methods(channel):
    """The methods of a process by their names, as Package.Service/Method."""
    database = ProtoReflectionDescriptorDatabase(channel)
    pool = DescriptorPool(database)
    services = [pool.FindServiceByName(name) for name in database.get_services()]
    return {f"{service.full_name}/{method.name}": method for service in services for method in service.methods}


def call(channel, name, method, request):
    """Calls a method with one request and yields its answers."""
    make, answer = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    multi = channel.stream_stream(f"/{name}", make.SerializeToString, answer.FromString)
    return multi(iter([json_format.ParseDict(request, make())]), timeout=None if method.server_streaming else PATIENCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--token", type=pathlib.Path, default=HOME / "token", metavar="FILE", help="for a process on this host")
    for name, what in (("ca", "the authority"), ("cert", "your certificate"), ("key", "its key")):
        parser.add_argument(f"--{name}", type=pathlib.Path, metavar="FILE", help=f"PEM, for a process on another host: {what}")
    parser.add_argument("address", help="HOST:PORT or unix:PATH")
    parser.add_argument("method", nargs="?", help="as in mutirao.broker.v1.BrokerService/ListJobs")
    parser.add_argument("request", nargs="?", type=json.loads, default={}, help="JSON; an empty message when left out")
    args = parser.parse_args()
    try:
        channel = connect(args.address, args.token, args.ca, args.cert, args.key)
        methods = find_methods(channel)
        if args.method is None:
            print(*sorted(methods), sep="\n")
        elif args.method not in methods:
            return f"error: there is no {args.method}; without a method, this program prints those that there are"
        else:
            for answer in call(channel, args.method, methods[args.method], args.request):
                print(json.dumps(json_format.MessageToDict(answer)), flush=True)
    except grpc.RpcError as error:
        return f"error: {error.code().name} {error.details()}"
    except (OSError, json_format.ParseError) as error:
        return f"error: {error}"


if __name__ == "__main__":
    sys.exit(main())
