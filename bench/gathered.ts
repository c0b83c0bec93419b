// Many small outputs, gathered in volumes and a file each, in turn: time, the broker's processor time, and what there
// is at home then.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { Grid, taskGroup } from '@mutirao/testkit';
import { below, option, plain, report, type Figure } from './harness.ts';

const rounds = option('rounds', 3);
const taskCount = option('tasks', 10_000);
const bytesEach = option('bytes', 200);
const folder = mkdtempSync(join(tmpdir(), 'mutirao-gathered-'));

/** Processor seconds of a process so far, of its own and of the system for it. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface Run {
  readonly seconds: number;
  readonly brokerSeconds: number;
  readonly files: number;
  readonly mebibytes: number;
  readonly readSeconds: number;
}

function shell(line: string, at: string): string {
  return execFileSync('sh', ['-c', line], { cwd: at, encoding: 'utf8' });
}

async function run(grid: Grid, name: string, isGathered: boolean): Promise<Run> {
  const home = join(folder, name);
  mkdirSync(home);
  const before = processorSeconds(grid.broker.pid);
  const start = performance.now();
  // Made by the shell itself, so that little else is measured.
  const command = `printf "%${bytesEach}d" {} > out`;
  const outputs = [{ root: Root.PLAYPEN, path: 'out', localPath: 'results/{}', condition: '' }];
  const gathering = isGathered ? { folder: 'gathered' } : undefined;
  const jobId = await grid.client.submit([taskGroup(command, taskCount, { outputs })], {
    homeDirectory: home,
    replicasMax: 1,
    gathering,
  });
  const { status } = await grid.client.waitEnded(jobId, 3_600_000);
  if (status !== JobStatus.FINISHED) throw new Error(`the job ended with status ${status}`);
  const seconds = (performance.now() - start) / 1000;
  const brokerSeconds = processorSeconds(grid.broker.pid) - before;
  const reading = performance.now();
  const sums = shell(
    isGathered
      ? 'for volume in gathered/*.tar; do tar -xOf "$volume"; done | sha256sum; tar -tf gathered/*.000.tar | wc -l'
      : 'find results -type f -print0 | sort -z | xargs -0 cat | sha256sum; ls results | wc -l',
    home,
  );
  const readSeconds = (performance.now() - reading) / 1000;
  if (Number(sums.trim().split('\n').at(-1)) !== taskCount) throw new Error(`${name} holds ${sums.trim()}`);
  const files = Number(shell('find . -type f | wc -l', home));
  const mebibytes = Number(shell('du -sk .', home).split('\t')[0]) / 1024;
  rmSync(home, { recursive: true });
  return { seconds, brokerSeconds, files, mebibytes, readSeconds };
}

function median(runs: readonly Run[], of: (run: Run) => number): number {
  return runs.map(of).sort((one, other) => one - other)[Math.floor(runs.length / 2)] ?? NaN;
}

const grid = await Grid.start({ machines: [2] });
try {
  await grid.client.waitMachines(1);
  await run(grid, 'warm-up', false);
  const apart: Run[] = [];
  const gathered: Run[] = [];
  for (let round = 0; round < rounds; round++) {
    apart.push(await run(grid, `apart-${round}`, false));
    gathered.push(await run(grid, `gathered-${round}`, true));
  }
  const both = (name: string, unit: string, of: (run: Run) => number): Figure[] => [
    plain(`${name}, a file each`, median(apart, of), unit),
    plain(`${name}, gathered`, median(gathered, of), unit),
  ];
  report(`${taskCount} outputs of ${bytesEach} bytes, medians of ${rounds}`, [
    ...both('whole job', 's', ({ seconds }) => seconds),
    ...both('processor time of the broker', 's', ({ brokerSeconds }) => brokerSeconds),
    ...both('files at home', 'files', ({ files }) => files),
    ...both('on the disk at home', 'MiB', ({ mebibytes }) => mebibytes),
    ...both('reading all of them again', 's', ({ readSeconds }) => readSeconds),
    below(
      'processor time of the broker, gathered over a file each',
      median(gathered, ({ brokerSeconds }) => brokerSeconds) / median(apart, ({ brokerSeconds }) => brokerSeconds),
      'times',
      1,
    ),
  ]);
} finally {
  await grid.stop();
  rmSync(folder, { recursive: true, force: true });
}
