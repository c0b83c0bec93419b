import type { Fault, Reason } from '../../reasons/index.ts';
import { readField } from '../fields.ts';
import { parseTemplate, type Template } from '../template.ts';
import { CommandFault, type Atom, type PlaceholderNames } from './atoms.ts';
import { findValueFault, needsCheck, quoteValue, type Piece, type Slot } from './quote-value.ts';
import { scanCommand } from './scan-command.ts';

/**
 * A command for /bin/sh with its placeholders, each with the quotes that surround it; read once, filled in for each
 * task.
 */
export interface CommandTemplate {
  readonly pieces: readonly Piece[];
  /** Why no value can be put in; undefined where values can. */
  readonly fault: Reason | undefined;
}

const taskNames: PlaceholderNames = {
  getSymbol,
  isParameter: (name) => name === 'index',
};

/** A field is named as it is written, so that it is none of `value` and `index`. */
function getSymbol(name: string): string {
  if (name.startsWith('=')) return `{${name}}`;
  return name === 'value' ? '{}' : '{#}';
}

/** The value of a placeholder in a task's command. */
function getText(name: string, value: string, index: number): string {
  if (name.startsWith('=')) return readField(value, name.slice(1)) ?? getSymbol(name);
  return name === 'value' ? value : String(index);
}

/**
 * Reads a command: `{}` stands for the task's value, `{=name}` for a field of it and `{#}` for its index, as
 * `parseTemplate` finds them. Cost: linear.
 */
export function parseCommand(text: string): CommandTemplate {
  return scanned(listAtoms(parseTemplate(text)), taskNames);
}

/**
 * Fills in a command line for /bin/sh. The value always stands for its own characters, in quotes of any kind or outside
 * them, and is never read as shell code; only a placeholder that is a whole script by itself (`sh -c {}`, `eval {}`) is
 * code.
 *
 * If the command cannot be filled in safely, and the job should have been refused (`findCommandFault`), the returned
 * line prints the code of the reason and fails.
 */
export function renderCommand({ pieces, fault }: CommandTemplate, value: string, index: number): string {
  let line = '';
  let found = fault;
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      line += piece;
      continue;
    }
    const text = getText(piece.name, value, index);
    if (found === undefined && needsCheck(piece)) found = findValueFault(piece, text);
    line += quoteValue(piece, text);
  }
  return found === undefined ? line : getRefusal(found);
}

/**
 * Says why a command cannot be filled in safely, for any value or for one of those given; undefined if it can.
 *
 * Cost: values are only checked for placeholders in one of the few positions that do not take all of them.
 */
export function findCommandFault({ pieces, fault }: CommandTemplate, values: Iterable<string>): Fault | undefined {
  if (fault !== undefined) return { code: 'command-unsafe', cause: fault };
  const checked = pieces.filter(
    (piece): piece is Slot => typeof piece !== 'string' && piece.name !== 'index' && needsCheck(piece),
  );
  if (checked.length === 0) return undefined;
  for (const value of values) {
    for (const slot of checked) {
      const text = getText(slot.name, value, 0);
      const why = findValueFault(slot, text);
      if (why !== undefined) return valueFault(getSymbol(slot.name).replace('{=', '{'), text, why);
    }
  }
  return undefined;
}

/** Characters of a value that a fault repeats. */
const valueShownMax = 60;

function valueFault(placeholder: string, text: string, cause: Reason): Fault {
  const value = text.length > valueShownMax ? `${text.slice(0, valueShownMax)}...` : text;
  return { code: 'value-unsafe', value, placeholder, cause };
}

/**
 * Fills in placeholders `{name}` of other names, by the same rules. Several texts are several words outside quotes, and
 * inside them one text with spaces between.
 *
 * @param values a placeholder whose name is not among them stays. @throws {CommandFault} if a text has no safe meaning.
 */
export function fillNamed(command: string, values: ReadonlyMap<string, string | readonly string[]>): string {
  const atoms: Atom[] = [];
  let done = 0;
  for (const found of command.matchAll(/\{([^{}]*)\}/g)) {
    const name = (found[1] ?? '').trim();
    if (!values.has(name)) continue;
    atoms.push(...command.slice(done, found.index), { name });
    done = found.index + found[0].length;
  }
  atoms.push(...command.slice(done));
  const template = scanned(atoms, { getSymbol: (name) => `{${name}}`, isParameter: (name) => /^\w+$/.test(name) });
  if (template.fault !== undefined) throw new CommandFault({ code: 'command-unsafe', cause: template.fault });
  return template.pieces
    .map((piece) => (typeof piece === 'string' ? piece : fillSlot(piece, values.get(piece.name) ?? '')))
    .join('');
}

function fillSlot(slot: Slot, value: string | readonly string[]): string {
  if (typeof value !== 'string' && slot.place.kind === 'word')
    return value.map((word) => quoteValue(slot, word)).join(' ');
  const text = typeof value === 'string' ? value : value.join(' ');
  const fault = findValueFault(slot, text);
  if (fault !== undefined) throw new CommandFault(valueFault(`{${slot.name}}`, text, fault));
  return quoteValue(slot, text);
}

function scanned(atoms: readonly Atom[], names: PlaceholderNames): CommandTemplate {
  if (atoms.every((atom) => typeof atom === 'string')) return { pieces: [atoms.join('')], fault: undefined };
  try {
    return { pieces: joined(scanCommand(atoms, names)), fault: undefined };
  } catch (error) {
    if (error instanceof CommandFault) return { pieces: [], fault: error.reason };
    throw error;
  }
}

function listAtoms(template: Template): Atom[] {
  const atoms: Atom[] = [];
  for (const part of template) {
    if (part.kind === 'text') for (const character of part.text) atoms.push(character);
    else atoms.push({ name: part.kind === 'field' ? `=${part.name}` : part.kind });
  }
  return atoms;
}

/** Joins the texts that follow one another. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    if (text !== '') all.push(text);
    all.push(piece);
    text = '';
  }
  return text === '' ? all : [...all, text];
}

function getRefusal({ code }: Reason): string {
  return `echo 'mutirao: refused ${code}' >&2; exit 126`;
}
