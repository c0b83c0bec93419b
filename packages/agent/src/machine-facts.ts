import { randomBytes } from 'node:crypto';
import { arch, availableParallelism, hostname, totalmem, type } from 'node:os';
import { MutiraoError } from '@mutirao/api/errors';
import type { MachineFacts } from '@mutirao/core/messages';

/** What an agent is told about itself. */
export interface FactsOptions {
  /** Name at the provider; empty takes the host's, or the process's place in its allocation. */
  readonly machineId: string;
  readonly providerId: string;
  /** The allocation request that it serves; empty for a time-shared machine. */
  readonly request: string;
  /** 0 for all of the host, or one of an allocation. */
  readonly processors: number;
  readonly site: string;
  /** `NAME=VALUE` each. */
  readonly attributes: readonly string[];
}

/**
 * Says what this machine is. Attributes that the owner states win over those that are found.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG for an attribute without a name or a value.
 */
export function describeMachine(options: FactsOptions, environment: Readonly<Record<string, string | undefined>>): MachineFacts {
  const until = Number(environment['MUTIRAO_WALLTIME_END_UNIX_MS'] ?? '');
  const processorsFound = options.request === '' ? availableParallelism() : 1;
  return {
    machineId: nameMachine(options, environment['MUTIRAO_PROCESS_INDEX']), incarnation: randomBytes(8).toString('hex'),
    processors: options.processors > 0 ? options.processors : processorsFound,
    attributes: describeAttributes(options), until: Number.isSafeInteger(until) && until > 0 ? until : undefined, requestId: options.request,
  };
}

function describeAttributes({ site, attributes: stated }: FactsOptions): Record<string, string> {
  const attributes: Record<string, string> = {
    os: type().toLowerCase(), mem: String(Math.floor(totalmem() / 2 ** 20)), hostname: hostname(), processorfamily: arch(),
  };
  if (site !== '') attributes['site'] = site;
  for (const attribute of stated) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(attribute) ?? [];
    if (name === '') throw new MutiraoError('MUT_BAD_CONFIG', `attribute is "${attribute}"; want NAME=VALUE`);
    attributes[name.trim().toLowerCase()] = value.trim();
  }
  return attributes;
}

function nameMachine({ machineId, providerId, request }: FactsOptions, index: string | undefined): string {
  const name = machineId !== '' ? machineId : request === '' ? hostname().replaceAll(/[^\w.-]/g, '-').slice(0, 64) : `${request}.${index ?? '0'}`;
  return providerId === '' || name.includes('/') ? name : `${providerId}/${name}`;
}
