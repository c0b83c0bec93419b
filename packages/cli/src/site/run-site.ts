import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { siteFolder, writeAtomic } from '@mutirao/runtime/files';
import { socketIn } from '@mutirao/runtime/rpc';
import { SshConnection } from '@mutirao/runtime/ssh';

import type { CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { getExitStatus } from '../exit-status.ts';
import { bringUp, type SiteHost, type UpSite } from './bring-up.ts';
import { claimSite } from './claim-site.ts';
import { FrontEnd } from './front-end.ts';
import { isIdleAt } from './is-idle.ts';
import { findProgramFile, type ProgramFile } from '@mutirao/runtime/ssh';
import { describeError } from '@mutirao/core/shared';
import { keepSite, type SiteLink } from './site-connector.ts';
import { findState, readSite, writeSite, writeState, type SiteRecord, type SiteState } from './site-record.ts';

/** How often a provider of another release is asked whether it is idle. */
const idleInterval = 30_000;
const brokerPause = 3_000;

/**
 * Keeps a site's connection until interrupted; one process for each site. @throws {MutiraoError} MUT_NOT_FOUND, or why
 * a new site cannot be made to work.
 */
export async function runSite(context: CommandContext, name: string, now: boolean): Promise<ExitStatus> {
  const site = readSite(context.home, name);
  try {
    await claimSite(context.home, name);
    const connector = new SiteProcess(context, site, now);
    await connector.run();
    return 0;
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
    context.output.note(`error: ${error.code} ${error.message}`);
    return getExitStatus(error);
  }
}

/** The process that keeps one site's connection; `state.json` says what it does. */
class SiteProcess {
  readonly #context: CommandContext;
  #site: SiteRecord;
  #now: boolean;
  #state: SiteState;
  #reportedAddress = '';

  constructor(context: CommandContext, site: SiteRecord, now: boolean) {
    this.#context = context;
    this.#site = site;
    this.#now = now;
    this.#state = {
      pid: process.pid,
      status: 'connecting',
      sinceUnixMs: context.clock.now(),
      detail: '',
      code: '',
      host: findState(context.home, site.name)?.host,
    };
  }

  async run(): Promise<void> {
    const { clock, home, signal } = this.#context;
    try {
      await keepSite({
        isSynced: this.#site.isSynced,
        now: () => clock.now(),
        random: Math.random,
        sleep: (length) => this.#context.sleep(length),
        signal,
        open: async () => this.#open(await findProgramFile(home, this.#site.program)),
        onUp: (up) => {
          this.#up(up);
        },
        onState: (status, trouble, pauseMs) => {
          this.#reported(status, trouble, pauseMs);
        },
      });
    } catch (error) {
      if (error instanceof MutiraoError) this.#report({ status: 'failed', detail: error.message, code: error.code });
      throw error;
    }
    this.#report({ status: 'stopped', detail: '', code: '' });
  }

  async #open(program: ProgramFile): Promise<SiteLink> {
    const { signal, home } = this.#context;
    const connection = await SshConnection.open({
      destination: this.#site.ssh,
      options: this.#site.sshOptions,
      signal,
    });
    const frontEnd = new FrontEnd(connection, this.#site, home);
    const host = getHost(connection, frontEnd, socketIn(join(siteFolder(home, this.#site.name), 'run'), 'provider'));
    return {
      bringUp: async () => {
        const onStep = (status: SiteState['status'], detail: string): void => {
          this.#report({ status, detail, code: '' });
        };
        try {
          const up = await bringUp(host, { site: this.#site, program, now: this.#now, onStep });
          this.#now = false;
          if (!up.facts.isOutdated) await cleanIfIdle(frontEnd, up, program);
          return up;
        } catch (error) {
          if (!this.#site.isSynced) await cleanUp(frontEnd);
          throw error;
        }
      },
      untilGone: (up) => this.#untilGone(connection, frontEnd, up),
      close: connection.close,
    };
  }

  /** A provider of another release is as good as gone once it is idle. */
  async #untilGone(connection: SshConnection, frontEnd: FrontEnd, up: UpSite): Promise<void> {
    const gone = frontEnd.untilGone(up.processes);
    if (!up.facts.isOutdated) return gone;
    const over = new AbortController();
    const idle = async (): Promise<void> => {
      while (!over.signal.aborted && connection.isOpen && !this.#context.signal.aborted) {
        if (await isIdleAt(up.address, up.token)) return;
        await this.#context.sleep(idleInterval);
      }
      return gone;
    };
    try {
      return await Promise.race([gone, idle()]);
    } finally {
      over.abort();
      gone.catch(() => undefined);
    }
  }

  #up({ address, token, facts }: UpSite): void {
    const { home } = this.#context;
    const tokenFile = join(siteFolder(home, this.#site.name), 'token');
    if (readIfThere(tokenFile).trim() !== token) writeAtomic(tokenFile, `${token}\n`);
    if (!this.#site.isSynced || this.#site.address !== address) {
      this.#site = { ...this.#site, address, isSynced: true };
      writeSite(home, this.#site);
    }
    this.#report({
      status: 'connected',
      detail: facts.isOutdated ? 'its provider is of another release, and is replaced when it is idle' : '',
      code: '',
      host: facts,
    });
    if (this.#reportedAddress === address) return;
    this.#reportedAddress = address;
    void this.#reportBroker(address);
  }

  /** An absent broker is notified when it is back; one that knows the site finds it by itself. */
  async #reportBroker(address: string): Promise<void> {
    const { signal, output, sleep } = this.#context;
    let lastTrouble = '';
    while (!signal.aborted && this.#reportedAddress === address) {
      try {
        await (await this.#context.broker()).addProvider({ providerId: this.#site.name, address });
        return;
      } catch (error) {
        const trouble = describeError(error);
        if (trouble !== lastTrouble) output.note(`cannot add the provider to the broker yet: ${trouble}`);
        lastTrouble = trouble;
      }
      await sleep(brokerPause);
    }
  }

  #reported(status: SiteState['status'], trouble: MutiraoError | undefined, pauseMs: number): void {
    const next = status === 'waiting' ? `next try in ${Math.ceil(pauseMs / 1000)} s` : '';
    this.#report({
      status,
      detail: [trouble?.message ?? '', next].filter((part) => part !== '').join('; '),
      code: trouble?.code ?? '',
    });
  }

  #report(change: Partial<SiteState>): void {
    const { clock, home, output } = this.#context;
    this.#state = { ...this.#state, ...change, sinceUnixMs: clock.now() };
    writeState(home, this.#site.name, this.#state);
    output.note(
      `${new Date(this.#state.sinceUnixMs).toISOString()} ${this.#state.status} ${this.#state.detail}`.trimEnd(),
    );
  }
}

/** Where it cannot be done now, it is done at another connection. */
async function cleanIfIdle(frontEnd: FrontEnd, { address, token }: UpSite, { sha256 }: ProgramFile): Promise<void> {
  try {
    if (await isIdleAt(address, token)) await frontEnd.clean(sha256);
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
  }
}

/** A site that never worked leaves nothing behind; what went wrong before is what counts. */
async function cleanUp(frontEnd: FrontEnd): Promise<void> {
  try {
    await frontEnd.remove();
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
  }
}

function getHost(connection: SshConnection, frontEnd: FrontEnd, local: string): SiteHost {
  let forwarded = '';
  return {
    look: (sha256) => frontEnd.look(sha256),
    install: (program) => frontEnd.install(program),
    start: (kind, sha256, info, options) => frontEnd.start(kind, sha256, info, options),
    stop: (kinds) => frontEnd.stop(kinds),
    isIdle: isIdleAt,
    forward: async (remoteAddress) => {
      if (forwarded !== remoteAddress) await connection.forward(remoteAddress, local);
      forwarded = remoteAddress;
      await connection.probe(local);
      return local;
    },
  };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
