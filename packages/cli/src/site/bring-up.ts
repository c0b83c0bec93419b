import { MutiraoError } from '@mutirao/api/errors';
import { parseAddress, socketAddress } from '@mutirao/runtime/rpc';

import type { FoundProcess, FoundSite, ProcessKind } from './front-end.ts';
import type { ProgramFile } from '@mutirao/runtime/ssh';
import type { HostFacts, SiteRecord, SiteState } from './site-record.ts';

/** What can be done at a site's host, over one connection. */
export interface SiteHost {
  look(sha256: string): Promise<FoundSite>;
  install(program: ProgramFile): Promise<void>;
  start(
    kind: ProcessKind,
    sha256: string,
    info: string,
    options: readonly string[],
  ): Promise<FoundProcess & { readonly address: string; readonly token: string }>;
  stop(kinds: readonly ProcessKind[]): Promise<void>;
  /** Makes an address here lead to the provider, and waits until that speaks. @returns the address here. */
  forward(remoteAddress: string): Promise<string>;
  /** Whether a provider has neither machines nor requests. */
  isIdle(localAddress: string, token: string): Promise<boolean>;
}

/** What is wanted of a site. */
export interface Wanted {
  readonly site: SiteRecord;
  readonly program: ProgramFile;
  /** Replace the processes of another release also when they have work. */
  readonly now: boolean;
  /** Called as it goes on. */
  onStep(status: SiteState['status'], detail: string): void;
}

/** A site that works. */
export interface UpSite {
  readonly facts: HostFacts;
  /** Here; leads to the provider. */
  readonly address: string;
  readonly token: string;
  /** Those to watch. */
  readonly processes: FoundSite['processes'];
}

/**
 * Makes a site work: carries the executable over unless it is there, starts what does not run, and leads an address
 * here to the provider.
 *
 * What runs is left alone; that of another release is replaced when it is idle, or when `now` says so. @throws
 * {MutiraoError}
 */
export async function bringUp(host: SiteHost, wanted: Wanted): Promise<UpSite> {
  const { site, program } = wanted;
  const found = await host.look(program.sha256);
  const running = await keepOrStop(host, wanted, found);
  const wantedKinds: ProcessKind[] = site.processors > 0 ? ['cluster', 'provider'] : ['provider'];
  if (!found.hasProgram && wantedKinds.some((kind) => running[kind] === undefined)) {
    wanted.onStep('copying', `the executable, ${Math.round(program.bytes / 2 ** 20)} MiB unpacked`);
    await host.install(program);
  }
  const processes: Partial<Record<ProcessKind, FoundProcess>> = { ...running };
  let { providerAddress, token } = found;
  for (const kind of wantedKinds) {
    if (processes[kind] !== undefined) continue;
    wanted.onStep('starting', `the ${kind}`);
    const {
      address,
      token: reported,
      ...started
    } = await host.start(kind, program.sha256, getInfo(kind, site.name), listOptions(kind, site, found.base));
    processes[kind] = started;
    token = reported;
    if (kind === 'provider') providerAddress = address;
  }
  const { provider } = processes;
  if (provider === undefined || providerAddress === '' || token === '')
    throw new MutiraoError('MUT_UNREACHABLE', `the provider at ${site.ssh} reported no address`);
  const address = await host.forward(providerAddress);
  const isOutdated = Object.values(processes).some((process) => process.program !== program.sha256);
  const facts: HostFacts = {
    system: found.system,
    base: found.base,
    providerPid: provider.pid,
    providerAddress,
    program: provider.program,
    isOutdated,
  };
  return { facts, address, token, processes };
}

/** What may go on of that which runs; the rest has been ended. */
async function keepOrStop(
  host: SiteHost,
  { site, program, now, onStep }: Wanted,
  found: FoundSite,
): Promise<FoundSite['processes']> {
  if (found.system !== program.system)
    throw new MutiraoError(
      'MUT_SITE_UNSUPPORTED_HOST',
      `${site.ssh} is ${found.system}; the executable is for ${program.system}`,
    );
  const { processes, providerAddress, token } = found;
  const isCurrent = Object.values(processes).every((process) => process.program === program.sha256);
  if (isCurrent || processes.provider === undefined) {
    if (!isCurrent) await host.stop(['cluster']);
    return isCurrent ? processes : {};
  }
  const mayStop = now || (await host.isIdle(await host.forward(providerAddress), token));
  if (!mayStop) return processes;
  onStep('starting', 'this release in place of the one that ran there');
  await host.stop(['provider', 'cluster']);
  return {};
}

/** The file that a process writes when it listens, in the site's folder. */
function getInfo(kind: ProcessKind, name: string): string {
  return kind === 'cluster' ? `clusters/${name}/cluster.json` : `providers/${name}/provider.json`;
}

/** @throws {MutiraoError} MUT_BAD_CONFIG where the folder's name is too long for sockets. */
function listOptions(
  kind: ProcessKind,
  { name, manager, processors, providerOptions }: SiteRecord,
  base: string,
): string[] {
  // A port of a host that others have accounts on can be taken by any of them while nobody listens; what is in our
  // folder cannot.
  const listen = socketAddress(`${base}/front/${name}/run/${kind}`);
  parseAddress(listen);
  if (kind === 'cluster') return ['--listen', listen, '--processors', String(processors)];
  return ['--listen', listen, '--manager', manager, ...(processors > 0 ? ['--cluster', name] : []), ...providerOptions];
}
