import type { WorkflowTask } from '../../../../src/schema/index.ts';

type WorkflowFile = WorkflowTask['inputs'][number];

/** Files as lines of text: a name, and its bytes behind a space where they are known. */
export function printFiles(files: readonly WorkflowFile[]): string {
  return files.map(({ name, bytes }) => (bytes === 0 ? name : `${name} ${bytes}`)).join('\n');
}

/**
 * Reads what {@link printFiles} prints. A name may have spaces; a number behind the last one is its bytes. @param
 * before what else is known of a file, by its name, stays.
 */
export function readFiles(text: string, before: readonly WorkflowFile[] = []): WorkflowFile[] {
  const known = new Map(before.map((file) => [file.name, file]));
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, bytes] = /^(.*\S)\s+(\d{1,15})$/.exec(line) ?? [];
      return name === undefined
        ? { ...known.get(line), name: line, bytes: 0 }
        : { ...known.get(name), name, bytes: Number(bytes) };
    });
}
