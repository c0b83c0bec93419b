import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

import { isErrorCode, MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import { accountName } from '@mutirao/runtime/files';
import { quoteLastWords, type SshConnection } from '@mutirao/runtime/ssh';

import {
  cleanScript,
  installScript,
  lookScript,
  removeScript,
  startScript,
  stopScript,
  watchScript,
} from './front-end-scripts.ts';
import type { ProgramFile } from '@mutirao/runtime/ssh';
import type { SiteRecord } from './site-record.ts';

/** What runs at a site, as it was found there. */
export interface FoundSite {
  /** Absolute path of our folder there. */
  readonly base: string;
  readonly system: string;
  readonly hasProgram: boolean;
  /** Of those that live. */
  readonly processes: Readonly<Partial<Record<ProcessKind, FoundProcess>>>;
  /** Where the provider listened when it last started; empty before. */
  readonly providerAddress: string;
  readonly token: string;
}

/** The Mutirao processes that a site may have. */
export type ProcessKind = 'cluster' | 'provider';

/** A Mutirao process at a site. */
export interface FoundProcess {
  readonly pid: number;
  /** Hash of its executable. */
  readonly program: string;
}

/** Longest time that the executable may be under way. */
const copyMax = 30 * 60_000;
const startMax = 60_000;
/** The longest that a timer of Node can wait. */
const watchMax = 2 ** 31 - 1;

/** The host of a site: what we do there goes over one connection, in a few calls each of which is a small script. */
export class FrontEnd {
  readonly #connection: Pick<SshConnection, 'run'>;
  readonly #site: SiteRecord;
  readonly #owner: string;

  /** @param home the home folder that the site belongs to. */
  constructor(connection: Pick<SshConnection, 'run'>, site: SiteRecord, home: string) {
    this.#connection = connection;
    this.#site = site;
    this.#owner = getOwner(home);
  }

  /**
   * Reads the state of the site. @throws {MutiraoError} MUT_SITE_EXISTS when the name is taken there by another home
   * folder; MUT_UNREACHABLE when it runs on another host of the same folder; MUT_NOT_OWNER, MUT_DISK_FULL.
   */
  async look(sha256: string): Promise<FoundSite> {
    const reported = await this.#run('look', lookScript, [sha256, this.#owner]);
    const [base, system, owner] = [
      this.#field(reported, 'base', /^\//),
      this.#field(reported, 'system', /^\S+ \S+$/),
      this.#field(reported, 'owner', /^[0-9a-f]{16} /),
    ];
    if (owner !== this.#owner)
      throw new MutiraoError(
        'MUT_SITE_EXISTS',
        `${this.#site.ssh} has a site "${this.#site.name}" of another home folder ` +
          `(${owner.split(' ').slice(1).join(' ')})`,
      );
    this.#refuseElsewhere(reported);
    const [cluster, provider] = [readProcess(reported.get('cluster')), readProcess(reported.get('provider'))];
    return {
      base,
      system,
      hasProgram: reported.has('has'),
      token: reported.get('token') ?? '',
      providerAddress: listAddress(reported.get('info')),
      processes: { ...(cluster === undefined ? {} : { cluster }), ...(provider === undefined ? {} : { provider }) },
    };
  }

  /** Login hosts that share home folders: a second provider over one journal would spoil it. */
  #refuseElsewhere(reported: ReadonlyMap<string, string>): void {
    const [, host, here = '', kind = ''] = /^(\S+) here=(\S+) kind=(\S+)$/.exec(reported.get('elsewhere') ?? '') ?? [];
    if (host === undefined) return;
    const { ssh, name } = this.#site;
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `${ssh} led to ${here}, and the ${kind} of ${name} was started on ${host}, which shares its folder; expected ` +
        'the name of that one host, ' +
        `or, if that host no longer exists, ${reported.get('base') ?? ''}/front/${name}/${kind}.pid removed`,
    );
  }

  /**
   * Carries the executable over. @throws {MutiraoError} MUT_SITE_UNSUPPORTED_HOST with the host's words when it cannot
   * run
   * there; MUT_DISK_FULL.
   */
  async install({ sha256, bytes, packed }: ProgramFile): Promise<void> {
    const inputFile = await packed();
    const { status, stderr } = await this.#connection.run(this.#words(installScript, [sha256, String(bytes)]), {
      inputFile,
      deadlineMs: copyMax,
    });
    if (status === 0) return;
    const words = quoteLastWords(stderr);
    if (status === 126)
      throw new MutiraoError('MUT_SITE_UNSUPPORTED_HOST', `${this.#site.ssh} cannot run the executable: ${words}`);
    throw new MutiraoError(
      getCode(words, 'MUT_TRANSFER_FAILED'),
      `the executable cannot be put on ${this.#site.ssh}: ${words}`,
    );
  }

  /**
   * Starts a process there. @param info a file of the site's folder that it writes when it listens. @throws
   * {MutiraoError} what the process said.
   */
  async start(
    kind: ProcessKind,
    sha256: string,
    info: string,
    options: readonly string[],
  ): Promise<FoundProcess & { readonly address: string; readonly token: string }> {
    const reported = await this.#run(
      `start the ${kind}`,
      startScript,
      [sha256, kind, this.#site.setup, info, ...options],
      startMax,
    );
    const pid = Number(this.#field(reported, 'pid', /^[1-9]\d*$/));
    return {
      pid,
      program: sha256,
      address: listAddress(this.#field(reported, 'info', /^\{.*\}$/)),
      token: reported.get('token') ?? '',
    };
  }

  /**
   * A field of an answer. @throws {MutiraoError} MUT_UNREACHABLE when it is not there or not what it has to be: nothing
   * is done on half an answer.
   */
  #field(reported: ReadonlyMap<string, string>, name: string, pattern: RegExp): string {
    const value = reported.get(name);
    if (value !== undefined && pattern.test(value)) return value;
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `${this.#site.ssh} gave an answer ${value === undefined ? 'without' : 'with a wrong'} ` +
        `"${name}"${value === undefined ? '' : `: ${JSON.stringify(value.slice(0, 80))}`}`,
    );
  }

  /** Ends processes, one after the other: politely, and after 15 s by force. */
  async stop(kinds: readonly ProcessKind[]): Promise<void> {
    await this.#run('end what runs', stopScript, kinds, startMax);
  }

  /**
   * Removes former executables. To be called when the provider is idle: agents on other hosts, and those of requests
   * that wait, may run one that nothing on this host does.
   */
  async clean(sha256: string): Promise<void> {
    await this.#run('remove former executables', cleanScript, [sha256]);
  }

  /** Ends what runs there and removes all that is the site's. */
  async remove(): Promise<void> {
    await this.#run('remove the folder', removeScript, [this.#owner], startMax);
  }

  /** Resolves when one of these processes is gone. @throws {MutiraoError} MUT_UNREACHABLE when the connection is. */
  async untilGone(processes: FoundSite['processes']): Promise<void> {
    const words = Object.entries(processes).flatMap(([kind, { pid }]) => [kind, String(pid)]);
    await this.#connection.run(this.#words(watchScript, words), { deadlineMs: watchMax });
  }

  async #run(what: string, script: string, args: readonly string[], deadlineMs?: number): Promise<Map<string, string>> {
    const { status, stdout, stderr } = await this.#connection.run(
      this.#words(script, args),
      deadlineMs === undefined ? {} : { deadlineMs },
    );
    if (status !== 0) throw failure(`${this.#site.ssh} cannot ${what}`, stderr);
    return new Map(stdout.split('\n').map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]));
  }

  #words(script: string, args: readonly string[]): string[] {
    return ['/bin/sh', '-c', script, 'mutirao', this.#site.folder, this.#site.name, ...args];
  }
}

/** Identifies a home folder at a site: a hash, then words for people. */
function getOwner(home: string): string {
  const words = `${accountName()}@${hostname()}:${home}`;
  return `${createHash('sha256').update(words).digest('hex').slice(0, 16)} ${words.replaceAll('\n', '?')}`;
}

function readProcess(text: string | undefined): FoundProcess | undefined {
  const [pid, program = ''] = (text ?? '').split(' ');
  return Number(pid) > 1 ? { pid: Number(pid), program } : undefined;
}

function listAddress(info: string | undefined): string {
  try {
    return (JSON.parse(info ?? '') as { address?: string }).address ?? '';
  } catch {
    return '';
  }
}

function getCode(words: string, otherwise: ErrorCode): ErrorCode {
  if (/no space left|quota exceeded/i.test(words)) return 'MUT_DISK_FULL';
  return /permission denied|read-only file system/i.test(words) ? 'MUT_NOT_OWNER' : otherwise;
}

/** Standard error of a script; the last line of a process's log says more than the shell around it. */
function failure(what: string, stderr: string): MutiraoError {
  for (const line of stderr.trim().split('\n').reverse()) {
    const reported = parseLog(line);
    if (reported?.msg !== undefined)
      return new MutiraoError(
        reported.code !== undefined && isErrorCode(reported.code) ? reported.code : 'MUT_UNREACHABLE',
        `${what}: ${reported.msg}`,
      );
  }
  const words = quoteLastWords(stderr);
  const usage = /^(?:mutirao \w+|error): (.*)/m.exec(stderr)?.[1];
  if (usage !== undefined || words.includes('the set-up command ended'))
    return new MutiraoError('MUT_BAD_CONFIG', `${what}: ${usage ?? words}`);
  return new MutiraoError(getCode(words, 'MUT_UNREACHABLE'), `${what}: ${words}`);
}

function parseLog(line: string): { readonly msg?: string; readonly code?: string } | undefined {
  try {
    const reported: unknown = JSON.parse(line);
    return typeof reported === 'object' && reported !== null ? reported : undefined;
  } catch {
    return undefined;
  }
}
