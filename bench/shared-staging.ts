// Staging where a machine shares the file system of home, compared with `cp` and one hash pass over the same files.
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Root } from '@mutirao/api/common';
import { Grid, taskGroup } from '@mutirao/testkit';
import { below, option, plain, report, type Figure } from './harness.ts';

const rounds = option('rounds', 3);
const mebibytes = option('mebibytes', 256);
const filesCount = option('files', 5000);
const folder = mkdtempSync(join(tmpdir(), 'mutirao-shared-'));

/** Files younger than this are copied to be safe; files of the benchmark must be older, like those of a user. */
const settling = 2500;

interface Case {
  readonly name: string;
  make(into: string): void;
}

const cases: readonly Case[] = [
  {
    name: `1 file of ${mebibytes} MiB`,
    make: (into) => {
      writeFileSync(join(into, 'large.bin'), randomFillSync(Buffer.alloc(mebibytes << 20)));
    },
  },
  {
    name: `${filesCount} files of 4 KiB`,
    make: (into) => {
      for (let index = 0; index < filesCount; index++)
        writeFileSync(join(into, `small-${index}`), randomFillSync(Buffer.alloc(4096)));
    },
  },
];

/** Seconds of `cp` and one hash pass over what was copied. */
function copyAndHash(from: string, to: string): number {
  const start = performance.now();
  execFileSync('cp', ['-r', from, to]);
  execFileSync('sh', ['-c', 'find "$1" -type f -print0 | xargs -0 sha256sum > "$1.sums"', 'sh', to]);
  return (performance.now() - start) / 1000;
}

/** Seconds from the submission of a job to the start of its task, which has the files in its playpen. */
async function stage(grid: Grid, from: string): Promise<number> {
  const input = {
    source: { source: { $case: 'localPath' as const, value: from } },
    root: Root.PLAYPEN,
    path: 'in',
    condition: '',
  };
  const start = Date.now();
  const jobId = await grid.client.submit([taskGroup('true', 1, { inputs: [input] })]);
  await grid.client.waitEnded(jobId, 600_000);
  const [task] = await grid.client.tasks(jobId);
  return ((task?.replicas.at(-1)?.startedUnixMs ?? NaN) - start) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

const grid = await Grid.start({ machines: [1] });
try {
  await grid.client.waitMachines(1);
  for (const { name, make } of cases) {
    const peers: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const from = join(folder, `from-${round}`);
      mkdirSync(from);
      make(from);
      await sleep(settling);
      peers.push(copyAndHash(from, join(folder, `copy-${round}`)));
      ours.push(await stage(grid, from));
      rmSync(from, { recursive: true });
      rmSync(join(folder, `copy-${round}`), { recursive: true });
    }
    const figures: Figure[] = [
      plain('cp and one hash pass, median', median(peers), 's'),
      plain('staged into a playpen, median', median(ours), 's'),
      below(
        'staged over cp and hash, median of pairs',
        median(ours.map((seconds, index) => seconds / (peers[index] ?? NaN))),
        'times',
        2,
      ),
    ];
    report(`shared file system, ${name}`, figures);
  }
} finally {
  await grid.stop();
  rmSync(folder, { recursive: true, force: true });
}
