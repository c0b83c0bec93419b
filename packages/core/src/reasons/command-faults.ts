import type { ReasonTable } from './parameters.ts';

/** Why values cannot be put into a command, or a path cannot be filled in: faults, and the causes that they carry. */
export const commandFaults = {
  'command-unsafe': { cause: 'cause' },
  'value-unsafe': { value: 'text', placeholder: 'text', cause: 'cause' },

  // What of a command keeps values out of it.
  'command-nested-too-deep': { levelsMax: 'number' },
  'command-unclosed': { opening: 'text' },
  'command-ansi-placeholder': {},
  'command-ansi-escape': {},
  'command-parameter-quoted': { character: 'text' },
  'command-delimiter-filled': {},

  // Why one value has no safe meaning at its place.
  'value-in-arithmetic': {},
  'value-not-plain': { place: ['parameter', 'script'] },
  'value-ends-here-document': { delimiter: 'text' },

  // Paths.
  'path-variable-unsafe': { variable: 'text', value: 'text', machineId: 'text', cause: 'cause' },
  'name-with-control-character': {},
  'name-with-slash': {},
  'name-of-other-folder': {},
  'name-too-long': { charactersMax: 'number' },
  'path-name-empty': {},
  'path-name-relative': { name: 'text' },
  'path-name-hidden': {},
} as const satisfies ReasonTable;
