// A stand-in for the command line: runs the tasks of `job submit` here, one after another, each in a fresh folder. It
// lets
// the examples' scripts be tested without a grid: MUTIRAO="node packages/testkit/src/fake-grid.ts".
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import {
  expandPathVariables,
  parseCommand,
  parseTemplate,
  getPathVariables,
  renderCommand,
  renderPath,
} from '@mutirao/core/bag';
import type { InputSpec, JobSpec, OutputSpec, TaskGroup } from '@mutirao/core/messages';
import { jobDefaults, makeTaskGroup, parseArray, parseJdf } from '@mutirao/formats';

const many = { type: 'string', multiple: true } as const;

function readJob(words: readonly string[]): JobSpec {
  const homeDirectory = process.cwd();
  const split = words.indexOf('--');
  const {
    values,
    positionals: [file],
  } = parseArgs({
    args: words.slice(0, split < 0 ? undefined : split),
    allowPositionals: true,
    options: {
      wait: { type: 'boolean' },
      progress: { type: 'boolean' },
      label: { type: 'string' },
      array: { type: 'string' },
      put: many,
      store: many,
      get: many,
    },
  });
  if (file !== undefined) return parseJdf(readFileSync(file, 'utf8'), { file, directory: homeDirectory }).job;
  const command = words.slice(split + 1);
  const input =
    (root: InputSpec['root']) =>
    (path: string): InputSpec => ({
      source: { kind: 'path', path: resolve(path) },
      root,
      path: basename(path),
      condition: '',
    });
  const output = (text: string): OutputSpec => ({
    root: 'playpen',
    path: text.split(':')[0] ?? '',
    localPath: text.split(':')[1] ?? '',
    condition: '',
  });
  const group = makeTaskGroup({
    command: command.length === 1 ? command.join('') : command,
    values: values.array === undefined ? undefined : parseArray(values.array),
    inputs: [...(values.put ?? []).map(input('playpen')), ...(values.store ?? []).map(input('storage'))],
    outputs: (values.get ?? []).map(output),
  });
  return { ...jobDefaults, label: values.label ?? '', groups: [group], homeDirectory };
}

interface Task {
  readonly group: TaskGroup;
  readonly value: string;
  readonly index: number;
}

function runTask(
  job: JobSpec,
  { group, value, index }: Task,
  folders: { readonly playpen: string; readonly storage: string },
): void {
  const variables = getPathVariables({ jobId: 1, taskIndex: index, machineId: 'here', attributes: { os: 'linux' } });
  const path = (template: string): string =>
    renderPath(parseTemplate(template), value, index, (text) => expandPathVariables(text, variables));
  const environment = {
    ...process.env,
    JOB: '1',
    TASK: String(index),
    PROC: 'here',
    PLAYPEN: folders.playpen,
    STORAGE: folders.storage,
  };
  for (const { source, root, path: target } of group.inputs) {
    if (source.kind === 'path') cpSync(path(source.path), join(folders[root], path(target)), { recursive: true });
  }
  execFileSync('/bin/sh', ['-c', renderCommand(parseCommand(group.command), value, index)], {
    cwd: folders.playpen,
    env: environment,
    stdio: ['ignore', 2, 2],
  });
  for (const { root, path: source, localPath } of group.outputs) {
    mkdirSync(dirname(path(localPath)), { recursive: true });
    cpSync(join(folders[root], path(source)), path(localPath), { recursive: true });
  }
  if (group.check === '') return;
  execFileSync('/bin/sh', ['-c', renderCommand(parseCommand(group.check), value, index)], {
    cwd: job.homeDirectory,
    env: environment,
    stdio: ['ignore', 2, 2],
  });
}

function runJob(job: JobSpec): number {
  const root = mkdtempSync(join(tmpdir(), 'fake-grid-'));
  let index = 0;
  try {
    for (const group of job.groups) {
      const { values } = group;
      const count = values.kind === 'range' ? values.count : values.values.length;
      for (let position = 0; position < count; position++, index++) {
        const value =
          values.kind === 'range' ? String(values.first + position * values.step) : (values.values[position] ?? '');
        const folders = { playpen: join(root, `task-${index}`), storage: join(root, 'storage') };
        for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
        runTask(job, { group, value, index }, folders);
      }
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return index;
}

const [noun, verb, ...words] = process.argv.slice(2);
if (noun !== 'job' || verb !== 'submit')
  throw new Error(`the faked grid knows "job submit" only, not "${noun ?? ''} ${verb ?? ''}"`);
process.stdout.write(`${runJob(readJob(words))} tasks were run here\n`);
