"""Writes the code of the published API into the package when it is built or installed."""

import pathlib
import subprocess
import sys

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = pathlib.Path(__file__).resolve().parent


class GenerateCode(BuildHookInterface):
    def initialize(self, version, build_data):
        # In an unpacked sdist proto/ lies beside this file, in a checkout at its root.
        protos = next(path for path in (HERE / "proto", HERE.parent.parent / "proto") if (path / "mutirao").is_dir())
        files = sorted(str(path.relative_to(protos)) for path in (protos / "mutirao").rglob("*.proto"))
        out = str(HERE / "src")
        options = [f"--proto_path={protos}", f"--python_out={out}", f"--pyi_out={out}", f"--grpc_python_out={out}"]
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *options, *files], check=True, cwd=protos)
