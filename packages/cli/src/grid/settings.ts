import { MutiraoError } from '@mutirao/api/errors';
import { findNearestWord } from '@mutirao/core/shared';

import type { ProcessName } from './programs.ts';

/** The options of the processes by kind. */
export type Settings = Record<ProcessName, string[]>;

const kinds: readonly ProcessName[] = ['agent', 'broker', 'cluster', 'provider', 'reservations', 'web'];

/** Options that a grid chooses for its own processes, and what to write instead. */
const chosen: Readonly<Record<string, string>> = {
  home: 'use --home of this command',
  leash: 'the grid decides when its processes end',
  id: 'the grid names its processes',
  listen:
    'each process of a grid listens at a socket in the home folder; to listen elsewhere, start the process by ' +
    'itself: mutirao run PROCESS --listen ADDRESS',
  'cluster.processors': 'use --clusters',
  'agent.processors': 'use --machine-processors',
  'agent.provider': 'the grid names its providers',
  'agent.machine-id': 'the grid names its machines',
  'agent.identity': 'the grid names its machines',
  help: 'use "mutirao run PROCESS --help"',
};

/**
 * Reads the values of `--set`: PROCESS.OPTION=VALUE. Whether a process has such an option it says itself, when it is
 * started.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST for another form, for an option that would have no effect, and for one that is
 * given twice.
 */
export function parseSettings(texts: readonly string[]): Settings {
  const settings: Settings = { agent: [], broker: [], cluster: [], provider: [], reservations: [], web: [] };
  const given = new Map<string, string>();
  for (const text of texts) {
    const [, kind = '', option = '', value = ''] = /^([a-z]+)\.([a-z][a-z-]*)=(.*)$/s.exec(text) ?? [];
    const process = kinds.find((one) => one === kind);
    if (process === undefined) throw refuse(text, kind);
    refuseChosen(kind, option);
    const former = given.get(`${kind}.${option}`);
    if (former !== undefined && !lists.includes(`${kind}.${option}`))
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `--set ${kind}.${option} is given twice, as "${former}" and "${value}"; expected it once`,
      );
    given.set(`${kind}.${option}`, value);
    settings[process].push(`--${option}`, value);
  }
  return settings;
}

function refuseChosen(kind: string, option: string): void {
  const instead = chosen[`${kind}.${option}`] ?? chosen[option];
  if (instead !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--set ${kind}.${option} has no effect: ${instead.replace('PROCESS', kind)}`,
    );
}

/** Options of processes that may be given several times. */
const lists: readonly string[] = [
  'broker.provider',
  'agent.attribute',
  'agent.gang-address',
  'cluster.node',
  'cluster.ssh-option',
  'reservations.registrar',
];

function refuse(text: string, kind: string): MutiraoError {
  const nearest = kind === '' ? undefined : findNearestWord(kind, kinds);
  return new MutiraoError(
    'MUT_BAD_REQUEST',
    `--set is "${text}"; ` +
      `${nearest === undefined ? `expected PROCESS.OPTION=VALUE, as in cluster.walltime-max=10m, with a process of ${kinds.join(', ')}` : `did you mean ${text.replace(kind, nearest)}?`}`,
  );
}

/**
 * Refuses settings of processes that are not started.
 *
 * @param missing by the kind of a process, why there is none.
 * @throws {MutiraoError} MUT_BAD_REQUEST
 */
export function refuseWithoutProcess(
  settings: Readonly<Record<ProcessName, readonly string[]>>,
  missing: Partial<Record<ProcessName, string>>,
): void {
  for (const kind of kinds) {
    const [option] = settings[kind];
    const reason = missing[kind];
    if (option !== undefined && reason !== undefined)
      throw new MutiraoError('MUT_BAD_REQUEST', `--set ${kind}.${option.slice(2)} has no effect: ${reason}`);
  }
}
