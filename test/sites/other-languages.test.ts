// The published API from another language: Python stubs generated from proto/ by Debian's protoc, nothing of ours besides.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { Grid, temporaryFolder } from '@mutirao/testkit';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

test.serial('a Python program submits, follows events through reconnects, fetches output, cancels, and is refused as it should be', async (t) => {
  const stubs = temporaryFolder(t);
  const protos = ['common', 'machine', 'provider', 'broker'].map((area) => `mutirao/${area}/v1/${area}.proto`);
  await run('protoc', [
    `--proto_path=${root}proto`, `--python_out=${stubs}`, `--grpc_out=${stubs}`, '--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin', ...protos,
  ]);
  const grid = await Grid.start({ machines: [2] });
  t.teardown(() => grid.stop());
  const { stdout } = await run('/usr/bin/python3', [`${root}test/sites/client.py`, grid.broker.address, join(grid.home, 'token'), stubs]);
  const told = JSON.parse(stdout) as Record<string, unknown>;
  t.deepEqual(told['finished'], Array.from({ length: 20 }, (_, index) => index));
  t.is(told['output'], 'from-7\n');
  t.is(told['cancelled'], 'JOB_STATUS_CANCELLED');
  t.deepEqual(told['refusals'], {
    'no token': 'UNAUTHENTICATED', 'wrong token': 'UNAUTHENTICATED', 'no such job': 'NOT_FOUND', 'no tasks': 'INVALID_ARGUMENT',
  });
});
