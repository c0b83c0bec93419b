import { isPacked, ownProgram } from '@mutirao/runtime/processes';

/** The processes of a grid. */
export type ProcessName = 'agent' | 'broker' | 'cluster' | 'provider' | 'reservations' | 'web';

/**
 * The command line of each Mutirao process contains one of these: of the executable, or of the sources and of their
 * bundles, which can change places while a grid runs.
 */
export const processMarks: readonly string[] = isPacked
  ? [ownProgram('broker').slice(0, 2).join('\0')]
  : ['/src/main.ts', '/.cache/programs/'];
