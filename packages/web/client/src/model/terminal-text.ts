/** A piece of a program's output in one style. */
export interface TerminalPiece {
  readonly text: string;
  /** Classes of its colour and weight; empty for plain text. */
  readonly className: string;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

interface Look {
  readonly colour: string;
  readonly isBold: boolean;
}
const plain: Look = { colour: '', isBold: false };

/**
 * Reads colours of a terminal (SGR), leaves out its other commands and control characters, and shows of a line that was
 * written over, as progress bars are, what was written last.
 */
export function parseOutput(text: string): TerminalPiece[] {
  const pieces: { text: string; className: string }[] = [];
  let look = plain;
  for (const part of withoutOverwritten(text).split(/(\u001b\[[0-9;:]*m)/)) {
    const [, codes] = /^\u001b\[([0-9;:]*)m$/.exec(part) ?? [];
    if (codes !== undefined) {
      look = applyCodes(look, codes);
      continue;
    }
    const shown = withoutControls(part);
    if (shown === '') continue;
    const className = getClasses(look);
    const last = pieces.at(-1);
    if (last?.className === className) last.text += shown;
    else pieces.push({ text: shown, className });
  }
  return pieces;
}

function withoutOverwritten(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .split('\n')
    .map((line) => line.replace(/\r+$/, ''))
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}

/** Commands that move, clear or set titles, and control characters that have no look. */
function withoutControls(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- they are what is looked for
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g, '')
      // oxlint-disable-next-line no-control-regex -- as above
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
  );
}

function applyCodes(look: Look, text: string): Look {
  let next = look;
  const codes = text.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    // A colour of 256, or of red, green and blue: not distinguished here, and the numbers behind it are not codes.
    if (code === 38 || code === 48) {
      at += codes[at + 1] === 5 ? 2 : 4;
      continue;
    }
    next = applyCode(next, code);
  }
  return next;
}

function applyCode(look: Look, code: number): Look {
  if (code === 0) return plain;
  if (code === 1) return { ...look, isBold: true };
  if (code === 22) return { ...look, isBold: false };
  if (code === 39) return { ...look, colour: '' };
  const colour = colours[code >= 90 ? code - 90 : code - 30];
  return colour === undefined ? look : { ...look, colour };
}

function getClasses({ colour, isBold }: Look): string {
  return [colour === '' ? '' : `ansi-${colour}`, isBold ? 'ansi-bold' : ''].filter((one) => one !== '').join(' ');
}
