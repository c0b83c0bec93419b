import { MutiraoError } from '@mutirao/api/errors';
import {
  runCommand,
  terminalOutput,
  type BrokerClient,
  type ClusterClient,
  type CommandContext,
  type ProviderClient,
  type ReservationClient,
} from '@mutirao/cli';

/** A home folder that cannot be made, whoever runs the tests: root could make one that is merely absent. */
const nowhere = '/dev/null/home';

/** What a command line run in a test talks to; what is left out is out of reach. */
export interface FakeGrid {
  readonly broker?: Partial<BrokerClient>;
  readonly provider?: Partial<ProviderClient>;
  readonly cluster?: Partial<ClusterClient>;
  readonly reservations?: Partial<ReservationClient>;
  /** Absolute; a folder that is not there when left out. */
  readonly home?: string;
  /** Absolute. */
  readonly directory?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called instead of waiting. */
  readonly sleep?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

/** What a command line printed, and its exit status. */
export interface CommandResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs one command line in this process against fakes: parsing, command, printing, errors and exit status are the real
 * ones.
 */
export async function runCommandLine(argv: readonly string[], grid: FakeGrid = {}): Promise<CommandResult> {
  let out = '';
  let err = '';
  const status = await runCommand(argv, {
    makeOutput: (mode) => ({
      mode,
      columns: 100,
      progress: undefined,
      write: (text) => {
        out += typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
      },
      note: terminalOutput((text) => {
        err += text;
      }).note,
      writePrinted: (bytes, to) => {
        const text = Buffer.from(bytes).toString('utf8');
        if (to === 'output') out += text;
        else err += text;
      },
    }),
    makeContext: (output, _options, passedOn) =>
      Promise.resolve({ context: surroundings(grid, { output, passedOn }), close: () => undefined }),
  });
  return { status, out, err };
}

function surroundings(grid: FakeGrid, words: Pick<CommandContext, 'output' | 'passedOn'>): CommandContext {
  const reach = <T>(client: Partial<T> | undefined, name: string): Promise<T> =>
    client === undefined
      ? Promise.reject(new MutiraoError('MUT_UNREACHABLE', `there is no ${name}`))
      : Promise.resolve(client as T);
  return {
    ...words,
    at: (home) => surroundings({ ...grid, home }, words),
    home: grid.home ?? nowhere,
    directory: grid.directory ?? '/work',
    signal: grid.signal ?? new AbortController().signal,
    clock: { now: grid.now ?? (() => 0) },
    broker: () => reach<BrokerClient>(grid.broker, 'broker'),
    provider: () => reach<ProviderClient>(grid.provider, 'provider'),
    cluster: () => reach<ClusterClient>(grid.cluster, 'cluster'),
    reservations: () => reach<ReservationClient>(grid.reservations, 'reservation manager'),
    sleep: grid.sleep ?? (() => Promise.resolve()),
  };
}
