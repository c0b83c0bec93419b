import { lastWords } from './ssh-errors.ts';

// Start files of a login shell print before a command runs, on either stream and not always with a line end, and some
// hosts add words after it. A mark of
// random letters, which none of them can know, tells the command's own output apart.
const frameScript =
  `printf '%s<' "$0"; printf '%s<' "$0" >&2; "$@"; status=$?; printf '>%s' "$0"; printf '>%s' "$0" >&2; exit ` +
  '"$status"';

/**
 * A command with a mark before and behind what it writes to each of its streams. @param mark letters and digits, of
 * nobody else.
 */
export function frameCommand(mark: string, command: readonly string[]): string[] {
  return ['/bin/sh', '-c', frameScript, mark, ...command];
}

/** What a framed command wrote to a stream. */
export interface FramedText {
  readonly text: string;
  /**
   * Its second mark is there. Otherwise the command was killed, wrote more than is kept, or its answer was cut on its
   * way.
   */
  readonly isWhole: boolean;
}

/** What a framed command wrote to a stream; undefined when it never ran. */
export function readFrame(mark: string, reported: string): FramedText | undefined {
  const from = reported.indexOf(`${mark}<`);
  if (from < 0) return undefined;
  const body = reported.slice(from + mark.length + 1);
  const to = body.lastIndexOf(`>${mark}`);
  return to < 0 ? { text: body, isWhole: false } : { text: body.slice(0, to), isWhole: true };
}

/** Whether the other host refused one more session over a connection that stands. */
export function isSessionRefused(reported: string): boolean {
  return /session request failed|session open refused/i.test(reported);
}

/** What a login shell that runs no commands said in place of an answer. */
export function describeRefusal(status: number, stdout: string, stderr: string): string {
  const words = lastWords(`${stdout}\n${stderr}`);
  return (
    'no command runs there: the login shell ended with status ' +
    `${status}${words === '' ? ' and without a word' : `, its words: ${words}`}`
  );
}
