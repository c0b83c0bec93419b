import { isPacked, ownProgram } from '@mutirao/runtime/processes';

/** The processes of a grid. */
export type ProcessName = 'agent' | 'broker' | 'cluster' | 'provider' | 'reservations';

/** A part of the command line of every process of ours. */
export const processMark: string = isPacked ? ownProgram('broker').slice(0, 2).join('\0') : '/src/main.ts';
