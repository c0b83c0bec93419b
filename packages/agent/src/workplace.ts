import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { AgentInput } from '@mutirao/core/machines/agent';
import type { MachineFacts } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { Watchdog } from '@mutirao/runtime/processes';
import { ContentCache } from './content-cache.ts';
import { Playpens } from './playpens.ts';
import { Storages } from './storages.ts';
import { baseEnvironment, TaskRenderer } from './task-environment.ts';
import { TaskRunner } from './task-runner.ts';

/** Where an agent's tasks run, and what they run with. */
export interface Workplace {
  readonly watchdog: Watchdog;
  readonly playpens: Playpens;
  readonly storages: Storages;
  readonly cache: ContentCache;
  readonly tasks: TaskRunner;
}

/** What a workplace is made of. */
export interface WorkplaceSetup {
  readonly facts: MachineFacts;
  /** Made if it is absent. */
  readonly folder: string;
  readonly machine: { readonly contentBytesMax: Bytes };
}

/** Sets up an agent's folder and starts its launchers. @param deliver hears of the ends of tasks. @throws Error of the file system. */
export async function openWorkplace({ facts, folder, machine }: WorkplaceSetup, deliver: (input: AgentInput) => void): Promise<Workplace> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const watchdog = new Watchdog();
  const playpens = new Playpens(path.join(folder, 'playpens'));
  const storages = new Storages(path.join(folder, 'storage'));
  const environment = baseEnvironment(process.env, facts.attributes, facts.machineId);
  const [cache, tasks] = await Promise.all([
    ContentCache.open(path.join(folder, 'contents'), machine.contentBytesMax),
    TaskRunner.open({
      launchers: { folder: path.join(folder, 'launchers'), width: facts.processors, environment, watchdog },
      playpens, storages, renderer: new TaskRenderer(environment['PATH'] ?? ''), deliver,
    }),
  ]);
  return { watchdog, playpens, storages, cache, tasks };
}
