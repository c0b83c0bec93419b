import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import type { FoundFacts } from '../machine-facts.ts';
import { openScript } from './scripts.ts';
import { Templates, type TemplateTexts } from './templates.ts';

/** How a machine is reached by templates. */
export interface RemoteMachineOptions {
  readonly texts: TemplateTexts;
  /** What `$machine` stands for. */
  readonly machine: string;
  /** The folder for our files there: absolute, or below the login's home. Nobody else's. */
  readonly remoteFolder: string;
  /** A folder of this host for files on their way; made if it is absent. */
  readonly folder: string;
  /** A template that takes longer is killed. */
  readonly deadline: Duration;
}

/** A machine that was reached. */
export interface RemoteMachine {
  readonly templates: Templates;
  /** Where our files are there; absolute, without links. */
  readonly base: string;
  readonly found: FoundFacts;
}

const pauses: readonly Duration[] = [500, 2000];

/**
 * Reaches a machine: makes our folder there, ends and removes what a former agent left in it, and tries both ways of
 * copying.
 *
 * @throws {MutiraoError} MUT_TEMPLATE_FAILED with what the template said.
 */
export async function openRemoteMachine(options: RemoteMachineOptions): Promise<RemoteMachine> {
  const { texts, machine, folder, deadline } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const templates = new Templates({ texts, machine, folder, deadline, pauses });
  const answer = (await templates.ask(openScript(options.remoteFolder))).toString();
  const lines = answer.split('\n');
  if (!answer.startsWith('/') || lines.length !== 7)
    throw new MutiraoError(
      'MUT_TEMPLATE_FAILED',
      `${machine} answered ${JSON.stringify(answer.slice(0, 200))}; expected a folder and what the machine is`,
    );
  const [base = '', system = '', processor = '', hostname = ''] = lines;
  templates.scriptFolder = `${base}/scripts`;
  await tryCopying(templates, `${base}/scripts/probe`, folder);
  return {
    templates,
    base,
    found: { system, processor, hostname, processors: Number(lines[4]) || 1, memory: Number(lines[5]) || undefined },
  };
}

/** Copies every possible byte to the machine and back, over the file of a former try. */
async function tryCopying(templates: Templates, remote: string, folder: string): Promise<void> {
  const sent = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(32)]);
  const [there, back] = [path.join(folder, 'probe'), path.join(folder, 'probe-back')];
  writeFileSync(there, sent, { mode: 0o600 });
  rmSync(back, { force: true });
  await templates.copyTo(there, remote);
  await templates.copyFrom(remote, back);
  const returned = readIfThere(back);
  for (const file of [there, back]) rmSync(file, { force: true });
  if (returned === undefined)
    throw new MutiraoError('MUT_TEMPLATE_FAILED', 'copyFrom ended with status 0, but $localfile is not there');
  if (!returned.equals(sent))
    throw new MutiraoError(
      'MUT_TEMPLATE_FAILED',
      `copyTo and copyFrom brought ${returned.length} bytes back that are not the ${sent.length} that were sent`,
    );
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
