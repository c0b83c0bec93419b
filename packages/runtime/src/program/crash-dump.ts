import { join } from 'node:path';
import { inspect } from 'node:util';
import { writeAtomic } from '../files/write-atomic.ts';

/** What is kept of a crash. */
export interface CrashDump {
  readonly program: string;
  readonly at: Date;
  readonly error: unknown;
  readonly config: unknown;
  /** Functions that describe the program's parts, by name. */
  readonly parts: ReadonlyMap<string, () => unknown>;
}

/** Writes a dump into the home folder and returns its path. Values in it are for people: deep ones are cut. */
export function writeCrashDump(home: string, { program, at, error, config, parts }: CrashDump): string {
  const path = join(home, 'crashes', `${program}-${at.toISOString().replaceAll(':', '-')}-${process.pid}.txt`);
  const sections = [
    ['program', `${program}, process ${process.pid}, ${at.toISOString()}, Node ${process.version}`],
    ['error', show(error)],
    ['config', show(config)],
    ...[...parts].map(([name, describe]) => [name, describeSafely(describe)]),
  ];
  writeAtomic(path, sections.map(([title, body]) => `== ${title}\n${body}\n`).join('\n'));
  return path;
}

/** A part that cannot describe itself must not hide the error that caused the dump. */
function describeSafely(describe: () => unknown): string {
  try {
    return show(describe());
  } catch (error) {
    return `cannot be described: ${show(error)}`;
  }
}

function show(value: unknown): string {
  return inspect(value, { depth: 8, maxArrayLength: 1000, maxStringLength: 10_000, breakLength: 160 });
}
