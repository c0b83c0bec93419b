import { lastWords } from './ssh-errors.ts';

// Start files of a login shell print before a command runs, on either stream and not always with a line end, and
// some hosts add words after it. A mark of random letters, which none of them can know, separates the command's output.
const frameStart = `printf '%s<' "$0"; printf '%s<' "$0" >&2; `;
const frameEnd = `"$@"; status=$?; printf '>%s:%s' "$status" "$0"; printf '>%s:%s' "$status" "$0" >&2; exit "$status"`;

// A start file that asks something reads the input of the command that follows. It gets empty lines, as if Enter were
// pressed; all up to the mark is passed over. Shells read lines from a pipe byte by byte, so the rest is the command's.
const takeInput =
  `until [ "$mutirao_line" = "$0" ]; do IFS= read -r mutirao_line || { printf '%s?' "$0"; exit 1; }; done; ` +
  'unset mutirao_line; ';
const emptyLines = 16;

/** What stands before the input of a framed command. */
export function markInput(mark: string): string {
  return `${'\n'.repeat(emptyLines)}${mark}\n`;
}

/**
 * A command with a mark before and behind what it writes to each of its streams. @param mark letters and digits, of
 * nobody else. @param hasInput its input begins with what {@link markInput} gives.
 */
export function frameCommand(mark: string, command: readonly string[], hasInput = false): string[] {
  return ['/bin/sh', '-c', `${hasInput ? takeInput : ''}${frameStart}${frameEnd}`, mark, ...command];
}

/** Whether start files read the input of a framed command to its end. */
export function isInputLost(mark: string, reported: string): boolean {
  return reported.includes(`${mark}?`);
}

/** What a framed command wrote to a stream. */
export interface FramedText {
  readonly text: string;
  /**
   * Its second mark is there. Otherwise the command was killed, wrote more than is kept, or its answer was cut on its
   * way.
   */
  readonly isWhole: boolean;
  /** That of the command; undefined where the text is not whole. */
  readonly status: number | undefined;
}

/** What a framed command wrote to a stream; undefined when it never ran. */
export function readFrame(mark: string, reported: string): FramedText | undefined {
  const from = reported.indexOf(`${mark}<`);
  if (from < 0) return undefined;
  const body = reported.slice(from + mark.length + 1);
  const ends = [...body.matchAll(new RegExp(`>(\\d{1,3})${findEndMark(mark)}`, 'g'))];
  const end = ends.at(-1);
  return end === undefined
    ? { text: body, isWhole: false, status: undefined }
    : { text: body.slice(0, end.index), isWhole: true, status: Number(end[1]) };
}

/** What each stream of a framed command ends with; after it come only words of others. */
export function findEndMark(mark: string): string {
  return `:${mark}`;
}

/** Whether the other host refused one more session over a connection that stands. */
export function isSessionRefused(reported: string): boolean {
  return /session request failed|session open refused/i.test(reported);
}

/** What a login shell that runs no commands said in place of an answer. */
export function describeRefusal(
  mark: string,
  { status, stdout, stderr }: { readonly status: number; readonly stdout: string; readonly stderr: string },
): string {
  const words = lastWords(`${stdout}\n${stderr}`.replaceAll(new RegExp(`${mark}<|>\\d+:${mark}`, 'g'), ''));
  return (
    'no command runs there: the login shell ended with status ' +
    `${status}${words === '' ? ' and without a word' : `, its words: ${words}`}`
  );
}
