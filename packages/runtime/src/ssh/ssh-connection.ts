import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MutiraoError } from '@mutirao/api/errors';
import { removeTree } from '../files/removal/remove-tree.ts';
import {
  runCommand,
  startProcess,
  killGroup,
  Watchdog,
  type CommandResult,
  type StartedProcess,
} from '../processes/index.ts';
import { isSocket, parseAddress, socketAddress } from '../rpc/address.ts';
import { makeSocketFolder } from '../rpc/socket-folder.ts';
import {
  describeRefusal,
  findEndMark,
  frameCommand,
  isInputLost,
  isSessionRefused,
  markInput,
  readFrame,
} from './answer-frame.ts';
import { onFrom } from './on-from.ts';
import { remoteCommand } from './remote-command.ts';
import { clientArguments, forwardWord, masterArguments } from './ssh-arguments.ts';
import { lastWords, quoteLastWords, sshError } from './ssh-errors.ts';

/** What to connect to, and how. */
export interface OpenSshOptions {
  /** `user@host`, or a name of `~/.ssh/config`. */
  readonly destination: string;
  /**
   * `KEY=VALUE` as of `ssh -o`, or a flag and its value in one word (`-F/path`, `-Juser@gate`); they win over ssh's
   * files.
   */
  readonly options?: readonly string[];
  /**
   * Where the connection's socket is; a folder under the system's temporary one when absent, or too long a path for a
   * socket.
   */
  readonly controlFolder?: string;
  /** Gives up, and closes the connection when it is open. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the connection must stand; 30 s when absent. */
  readonly deadlineMs?: number;
  /** The program; `ssh` of the PATH when absent. */
  readonly program?: string;
}

/** How to run a command on the other host. */
export interface RemoteRunOptions {
  /** Its standard input; nothing when absent. */
  readonly input?: string;
  /** A file here that is its standard input, in place of `input`. */
  readonly inputFile?: string;
  /** Milliseconds; a minute when absent. */
  readonly deadlineMs?: number;
}

/** How a command on the other host ended. Of each stream at most 1 MiB is kept. */
export interface RemoteResult {
  /** As a shell reports it. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A socket's path has at most 107 bytes, and ssh adds 17 of its own while it makes it. */
const controlPathMax = 88;
const connectMax = 30_000;
const runMax = 60_000;
const forwardMax = 15_000;
const pollMs = 15;
const outputBytesMax = 1024 * 1024;
const portTries = 5;
/** Pauses between tries to get a session, and how long it is tried. */
const sessionPauseMin = 50;
const sessionPauseMax = 1000;
const sessionWaitMax = 30_000;
/** Longest wait for the reason of a refusal. */
const refusalMax = 1000;
const sessionAdvice =
  'its sshd opens no further session over this connection; expected MaxSessions of 3 or more there (10 where ' +
  'nothing is said)';
const inputAdvice =
  'the start files of the login shell read what was sent to a command; have them read from a terminal alone, as in ' +
  '[ -t 0 ] && read answer';
const socketAdvice =
  'its sshd has to allow sockets to be forwarded, as OpenSSH from 6.7 on does unless AllowStreamLocalForwarding ' +
  'or DisableForwarding says otherwise';

/**
 * One ssh connection: a process of the system's own `ssh` that stays, and over which commands run, files go and ports
 * are forwarded.
 *
 * `~/.ssh/config`, agents, jump hosts and known hosts are honoured, since it is `ssh` itself. Nothing is ever asked:
 * what would need a password fails. The connection ends with us, however we die.
 */
export class SshConnection {
  readonly destination: string;
  readonly #program: string;
  readonly #folder: string;
  readonly #watchdog = new Watchdog();
  readonly #listeners: ((error: MutiraoError) => void)[] = [];
  readonly #master: StartedProcess;
  readonly #signal: AbortSignal | undefined;
  #closed: MutiraoError | undefined;
  #hasConnected = false;
  #isClosing = false;

  /** Use `open`. */
  private constructor({ destination, options = [], controlFolder, program = 'ssh', signal }: OpenSshOptions) {
    this.destination = destination;
    this.#program = program;
    this.#signal = signal;
    this.#folder = makeFolder(controlFolder);
    this.#master = startProcess({
      command: program,
      args: masterArguments(destination, options, this.#controlPath),
      env: { ...process.env, LC_ALL: 'C' },
      stderr: { kind: 'capture', bytesMax: 64 * 1024 },
      onExit: ({ startError }) => {
        this.#ended(startError);
      },
    });
    if (this.#master.pid !== undefined) this.#watchdog.guard(this.#master.pid);
    signal?.addEventListener('abort', this.close);
  }

  /**
   * Connects.
   *
   * @throws {MutiraoError} MUT_SSH_HOST_KEY, MUT_SSH_DENIED, MUT_UNREACHABLE, MUT_BAD_CONFIG with ssh's own words;
   * MUT_BAD_REQUEST for a malformed destination or option; MUT_CANCELLED.
   */
  static async open(options: OpenSshOptions): Promise<SshConnection> {
    if (options.signal?.aborted === true)
      throw new MutiraoError('MUT_CANCELLED', `ssh ${options.destination}: given up`);
    masterArguments(options.destination, options.options ?? [], ''); // Refused before anything is made.
    const connection = new SshConnection(options);
    const until = performance.now() + (options.deadlineMs ?? connectMax);
    // The socket comes when the other host has let us in.
    while (!existsSync(connection.#controlPath)) {
      if (connection.#closed !== undefined) throw connection.#closed;
      if (performance.now() > until) {
        connection.close();
        throw new MutiraoError(
          'MUT_UNREACHABLE',
          `ssh ${options.destination}: no connection after ${Math.round((options.deadlineMs ?? connectMax) / 1000)} s`,
        );
      }
      await delay(pollMs);
    }
    connection.#hasConnected = true;
    return connection;
  }

  /** The process that keeps the connection. */
  get pid(): number | undefined {
    return this.#master.pid;
  }

  get isOpen(): boolean {
    return this.#closed === undefined && !this.#isClosing;
  }

  /**
   * Runs a command on the other host to its end, whatever its status. What start files of the login shell print is not
   * among its output.
   *
   * A host that allows few sessions for each connection (sshd's MaxSessions) has it wait until another one ends.
   *
   * @param command words, each taken as it is, whatever it holds.
   * @throws {MutiraoError} MUT_UNREACHABLE when the connection is gone or gives no session, MUT_SSH_SHELL when the
   * login shell runs no commands, MUT_DEADLINE_EXCEEDED (what was started there may go on).
   */
  async run(
    command: readonly string[],
    { input, inputFile, deadlineMs = runMax }: RemoteRunOptions = {},
  ): Promise<RemoteResult> {
    const mark = randomBytes(8).toString('hex');
    const given = inputOf(mark, input, inputFile);
    const words = ['-T', '--', this.destination, remoteCommand(frameCommand(mark, command, given !== undefined))];
    const from = performance.now();
    for (let pause = sessionPauseMin; ; pause = Math.min(2 * pause, sessionPauseMax)) {
      const result = await this.#client(words, {
        deadlineMs,
        // What a start file leaves running in the background holds the streams open, and the session with them.
        endMark: findEndMark(mark),
        ...given,
      });
      if (result.isTimedOut)
        throw new MutiraoError(
          'MUT_DEADLINE_EXCEEDED',
          `${this.destination}: "${command.slice(0, 3).join(' ').slice(0, 80)}" ` +
            `${describeDelay(mark, result, deadlineMs)}`,
        );
      const answer = await this.#getAnswer(mark, result);
      if (answer !== undefined) return answer;
      if (performance.now() - from > Math.min(deadlineMs, sessionWaitMax))
        throw new MutiraoError('MUT_UNREACHABLE', `${this.destination}: ${sessionAdvice}`);
      await delay(pause);
    }
  }

  /** What came of a framed command; undefined when the other host gave it no session. @throws as `run`. */
  async #getAnswer(
    mark: string,
    { status, stdout, stderr, isTruncated }: CommandResult,
  ): Promise<RemoteResult | undefined> {
    const [out, err] = [stdout.toString(), stderr.toString()];
    // 255 is the command's own status or ssh's; it is ssh's when there is no connection any more.
    if (status === 255 && readFrame(mark, out)?.isWhole !== true && !(await this.#answers())) throw this.#gone(err);
    const answer = readAnswer(mark, { out, err, status, isTruncated });
    if (answer === 'cut')
      throw new MutiraoError('MUT_UNREACHABLE', `${this.destination}: the end of an answer was lost on its way`);
    if (answer !== undefined) return answer;
    if (status === 255 && isSessionRefused(err)) return undefined;
    const why = isInputLost(mark, out) ? inputAdvice : describeRefusal(mark, { status, stdout: out, stderr: err });
    throw new MutiraoError('MUT_SSH_SHELL', `${this.destination}: ${why}`);
  }

  /**
   * Makes an address here lead to one that the other host can dial. Addresses are `host:port` or `unix:/path`.
   *
   * @param localAddress which to take if it is free; a free port of 127.0.0.1 when absent. A socket takes the place of
   * one that is there, and its folder is made for this user alone. @returns the address here.
   * @throws {MutiraoError} MUT_UNREACHABLE; MUT_ALREADY_RUNNING when `localAddress` is taken; MUT_TOKEN_UNSAFE when
   * others may enter the socket's folder.
   */
  async forward(remoteAddress: string, localAddress?: string): Promise<string> {
    for (let count = 1; ; count += 1) {
      const local = localAddress ?? `127.0.0.1:${await freePort()}`;
      const draft = getDraft(local);
      if (draft !== local) makeSocketFolder(getPath(local));
      const { status, stderr } = await this.#client(
        ['-O', 'forward', '-L', `${forwardWord(draft)}:${forwardWord(remoteAddress)}`, '--', this.destination],
        { deadlineMs: forwardMax },
      );
      if (status === 0) {
        if (draft !== local) renameSync(getPath(draft), getPath(local));
        return local;
      }
      if (!this.isOpen) throw this.#gone(stderr.toString());
      // Somebody else took the free port before ssh did.
      if (localAddress !== undefined || count === portTries) {
        throw new MutiraoError(
          'MUT_ALREADY_RUNNING',
          `${this.destination}: ${local} cannot be forwarded to ${remoteAddress}: ${quoteLastWords(stderr.toString())}`,
        );
      }
    }
  }

  /**
   * Forwards a socket of the other host to an address that we can dial; replaces an existing socket.
   *
   * @param socket `unix:/path` there, in a folder of the user alone.
   * @throws {MutiraoError} MUT_UNREACHABLE, also if the other host forbids it.
   */
  async forwardBack(localAddress: string, socket: string): Promise<void> {
    const draft = getDraft(socket);
    const { status, stderr } = await this.#client(
      ['-O', 'forward', '-R', `${forwardWord(draft)}:${forwardWord(localAddress)}`, '--', this.destination],
      { deadlineMs: forwardMax },
    );
    if (status !== 0 && !this.isOpen) throw this.#gone(stderr.toString());
    const moved = status === 0 ? await this.run(['mv', '-f', '--', getPath(draft), getPath(socket)]) : undefined;
    const problem = moved?.stderr ?? `${stderr.toString()}\n${socketAdvice}`;
    if (moved?.status !== 0)
      throw new MutiraoError(
        'MUT_UNREACHABLE',
        `${this.destination}: ${localAddress} cannot be forwarded back to ${socket}: ${quoteLastWords(problem)}`,
      );
  }

  /**
   * Waits for the first word of a server that a forwarded address leads to; gRPC's speak first.
   *
   * @throws {MutiraoError} MUT_UNREACHABLE with what the other host said against it.
   */
  async probe(localAddress: string): Promise<void> {
    const reported = (): string => this.#master.stderr.bytes().toString();
    const before = reported().length;
    if (await onFrom(localAddress)) return;
    const until = performance.now() + refusalMax;
    const refusal = (): string | undefined => /open failed: ([^\r\n]+)/.exec(reported().slice(before))?.[1];
    while (refusal() === undefined && this.isOpen && performance.now() < until) await delay(pollMs);
    if (!this.isOpen) throw this.#gone('');
    // The other host says the same whether nobody listens or its sshd forbids it.
    throw new MutiraoError(
      'MUT_UNREACHABLE',
      `${this.destination}: nobody answers there: ${refusal() ?? 'no word'}; if the process lives, ${socketAdvice}`,
    );
  }

  /**
   * Copies a file over, with its permissions; readers there find the old one or the whole new one.
   *
   * @param remotePath absolute, or relative to the user's home; its folder is made for the user alone.
   * @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_DISK_FULL or MUT_NOT_OWNER with the other host's words, and as
   * `run`.
   */
  async copyTo(
    localPath: string,
    remotePath: string,
    {
      mode = '600',
      deadlineMs = 10 * runMax,
      unpack = false,
    }: { mode?: string; deadlineMs?: number; unpack?: boolean } = {},
  ): Promise<void> {
    if (!existsSync(localPath)) throw new MutiraoError('MUT_FILE_NOT_FOUND', `${localPath} is not there`);
    const draft = `${remotePath}.${process.pid}.tmp`;
    const result = await this.run(
      [
        ...['/bin/sh', '-c', copyScript, 'copy', remotePath, draft, mode, unpack ? 'gzip -dc' : 'cat'],
        // A compressed file marks its own end.
        unpack ? '' : String(statSync(localPath).size),
      ],
      { inputFile: localPath, deadlineMs },
    );
    if (result.status !== 0) throw copyError(this.destination, remotePath, result.stderr);
  }

  /** Called once when the connection is gone, also when it is already. Not called for `close`. */
  onClosed(listener: (error: MutiraoError) => void): void {
    if (this.#closed !== undefined && !this.#isClosing) listener(this.#closed);
    else this.#listeners.push(listener);
  }

  /** Ends the connection and all that goes over it. */
  readonly close = (): void => {
    this.#isClosing = true;
    if (this.#closed === undefined && this.#master.pid !== undefined) killGroup(this.#master.pid, 'SIGTERM');
    removeTree(this.#folder); // At once, for we may end before the process does.
  };

  get #controlPath(): string {
    return join(this.#folder, 'c');
  }

  #client(
    words: readonly string[],
    options: {
      readonly deadlineMs: number;
      readonly input?: string;
      readonly inputFile?: string;
      readonly endMark?: string;
    },
  ): Promise<CommandResult> {
    if (!this.isOpen) return Promise.reject(this.#gone(''));
    return runCommand({
      command: this.#program,
      args: clientArguments(this.#controlPath, words),
      env: { ...process.env, LC_ALL: 'C' },
      outputBytesMax,
      ...options,
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    });
  }

  async #answers(): Promise<boolean> {
    return (
      this.isOpen &&
      (await this.#client(['-O', 'check', '--', this.destination], { deadlineMs: forwardMax })).status === 0
    );
  }

  #gone(reported: string): MutiraoError {
    return (
      this.#closed ??
      new MutiraoError(
        'MUT_UNREACHABLE',
        `ssh ${this.destination}: the connection is closed${lastWords(reported) === '' ? '' : `: ${lastWords(reported)}`}`,
      )
    );
  }

  #ended(startError: string): void {
    const reported = this.#master.stderr.bytes().toString();
    this.#closed =
      startError === ''
        ? sshError(this.destination, reported, this.#hasConnected)
        : new MutiraoError('MUT_UNREACHABLE', `cannot start ${this.#program}: ${startError}`);
    if (this.#signal?.aborted === true)
      this.#closed = new MutiraoError('MUT_CANCELLED', `ssh ${this.destination}: given up`);
    this.#signal?.removeEventListener('abort', this.close);
    this.#watchdog.close();
    removeTree(this.#folder);
    if (this.#isClosing) return;
    for (const listener of this.#listeners) listener(this.#closed);
  }
}

/** Standard input of a framed command; undefined for none. */
function inputOf(
  mark: string,
  input: string | undefined,
  inputFile: string | undefined,
): { readonly input: string; readonly inputFile?: string } | undefined {
  if (inputFile !== undefined) return { input: markInput(mark), inputFile };
  return input === undefined ? undefined : { input: `${markInput(mark)}${input}` };
}

interface FramedStreams {
  readonly out: string;
  readonly err: string;
  readonly status: number;
  readonly isTruncated: boolean;
}

/** The command's own part of what came; undefined when it never ran. */
function readAnswer(mark: string, { out, err, status, isTruncated }: FramedStreams): RemoteResult | 'cut' | undefined {
  const body = readFrame(mark, out);
  if (body === undefined) return undefined;
  // With a status of 128 or more its shell may have been killed before it wrote the second mark.
  if (!body.isWhole && status < 128 && !isTruncated) return 'cut';
  const said = readFrame(mark, err);
  // Of a cut output the mark is gone; that of standard error has the status too.
  return { status: body.status ?? said?.status ?? status, stdout: body.text, stderr: said?.text ?? err };
}

function describeDelay(mark: string, { stdout }: CommandResult, deadlineMs: number): string {
  const hasBegun = readFrame(mark, stdout.toString()) !== undefined;
  return hasBegun
    ? `gave no end in ${deadlineMs / 1000} s`
    : `did not begin within ${deadlineMs / 1000} s: the host or the way to it is slow, or ${sessionAdvice}`;
}

// A connection that breaks ends the input there as a file's end does, and words to it would end the shell before it
// has removed its draft.
const copyScript = `
trap '' PIPE
umask 077
case $1 in */*) mkdir -p -- "\${1%/*}" || exit 1 ;; esac
trap 'rm -f -- "$2"' EXIT
$4 >"$2" || exit 1
found=$(($(wc -c <"$2")))
[ "$found" -eq "\${5:-$found}" ] || { echo "the copy has $found bytes; expected $5" >&2; exit 1; }
chmod "$3" "$2" && mv -f -- "$2" "$1"
`;

function copyError(destination: string, remotePath: string, reported: string): MutiraoError {
  const words = quoteLastWords(reported);
  const code = /no space left|quota exceeded/i.test(words)
    ? 'MUT_DISK_FULL'
    : /permission denied|read-only file system/i.test(words)
      ? 'MUT_NOT_OWNER'
      : 'MUT_TRANSFER_FAILED';
  return new MutiraoError(code, `${destination}: ${remotePath} cannot be written: ${words}`);
}

function makeFolder(wanted: string | undefined): string {
  const parent =
    wanted === undefined || Buffer.byteLength(join(wanted, 'ssh-XXXXXX/c')) > controlPathMax ? tmpdir() : wanted;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(parent, 'ssh-'));
}

/**
 * Sockets are made under another name first: clients find the former or the new one, and the process that made the
 * former one removes nothing when it ends.
 */
function getDraft(address: string): string {
  return isSocket(parseAddress(address))
    ? socketAddress(getPath(`${address}.${randomBytes(3).toString('hex')}`))
    : address;
}

/** @throws {MutiraoError} MUT_BAD_CONFIG, also when it is too long. */
function getPath(address: string): string {
  const where = parseAddress(address);
  return isSocket(where) ? where.path : '';
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
