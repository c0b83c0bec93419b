/**
 * Colours of Okabe and Ito, which colour-blind people can tell apart; where colour alone would carry the meaning, a
 * pattern or a word does too.
 */
export const okabeIto = {
  black: '#000000',
  orange: '#e69f00',
  sky: '#56b4e9',
  green: '#009e73',
  yellow: '#f0e442',
  blue: '#0072b2',
  vermillion: '#d55e00',
  purple: '#cc79a7',
  grey: '#8a939c',
} as const;

/** A colour and the pattern that is drawn over it. */
export interface Ink {
  readonly colour: string;
  readonly pattern: 'plain' | 'stripes' | 'dots' | 'cross' | 'hollow';
  readonly mark: string;
  readonly title: string;
}

const ink = (colour: string, pattern: Ink['pattern'], mark: string, title: string): Ink => ({
  colour,
  pattern,
  mark,
  title,
});

/** States of tasks, in the order in which they are stacked. */
export const taskInks = {
  finished: ink(okabeIto.green, 'plain', '✓', 'finished'),
  verifying: ink(okabeIto.purple, 'dots', '?', 'verifying'),
  running: ink(okabeIto.blue, 'stripes', '▸', 'running'),
  ready: ink(okabeIto.sky, 'hollow', '·', 'ready'),
  waiting: ink(okabeIto.grey, 'hollow', '…', 'waiting'),
  failed: ink(okabeIto.vermillion, 'cross', '✕', 'failed'),
  cancelled: ink(okabeIto.grey, 'stripes', '–', 'cancelled'),
} as const satisfies Record<string, Ink>;
export type TaskState = keyof typeof taskInks;

/** States of jobs and tasks, for their badges. */
export const statusInks: Readonly<Record<string, Ink>> = {
  ...taskInks,
  blocked: ink(okabeIto.vermillion, 'stripes', '!', 'blocked'),
  held: ink(okabeIto.grey, 'hollow', '‖', 'held'),
};

/** States of machines, by the names of the gateway. */
export const machineInks: Readonly<Record<string, Ink>> = {
  idle: ink(okabeIto.grey, 'hollow', '·', 'idle'),
  busy: ink(okabeIto.blue, 'plain', '▸', 'busy'),
  draining: ink(okabeIto.orange, 'stripes', '↓', 'draining'),
  quarantined: ink(okabeIto.vermillion, 'cross', '✕', 'quarantined'),
};

/** Kinds of bars in a Gantt chart, by the names of the gateway. */
export const barInks: Readonly<Record<string, Ink>> = {
  inputs: ink(okabeIto.yellow, 'plain', '⇣', 'inputs'),
  outputs: ink(okabeIto.purple, 'plain', '⇡', 'outputs'),
  accepted: ink(okabeIto.green, 'plain', '✓', 'accepted'),
  loser: ink(okabeIto.orange, 'stripes', '≈', 'loser'),
  failed: ink(okabeIto.vermillion, 'cross', '✕', 'failed'),
  killed: ink(okabeIto.grey, 'stripes', '■', 'killed'),
  lost: ink(okabeIto.sky, 'dots', '!', 'lost'),
  running: ink(okabeIto.blue, 'stripes', '▸', 'running'),
};

/** Where processor-time went: the four add up to what was held. */
export const ledgerInks = {
  used: ink(okabeIto.green, 'plain', '✓', 'used'),
  losers: ink(okabeIto.orange, 'stripes', '≈', 'duplicate runs'),
  killed: ink(okabeIto.vermillion, 'cross', '✕', 'failed or killed'),
  idle: ink(okabeIto.grey, 'hollow', '·', 'idle'),
} as const satisfies Record<string, Ink>;

/** The ink of a name, a grey one where it is not known here. */
export function getInk(inks: Readonly<Record<string, Ink>>, name: string): Ink {
  return Object.hasOwn(inks, name) ? (inks[name] as Ink) : ink(okabeIto.grey, 'plain', '·', name);
}
