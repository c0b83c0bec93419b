import type { WorkflowTask } from '../../../../src/schema/index.ts';

type WorkflowFile = WorkflowTask['inputs'][number];

/** Files as lines of text: a name, and its bytes behind a space where they are known. */
export function printFiles(files: readonly WorkflowFile[]): string {
  return files.map(({ name, bytes }) => (bytes === 0 ? name : `${name} ${bytes}`)).join('\n');
}

/** Reads what {@link printFiles} prints. A name may have spaces; a number behind the last one is its bytes. */
export function readFiles(text: string): WorkflowFile[] {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((line) => {
    const [, name, bytes] = /^(.*\S)\s+(\d{1,15})$/.exec(line) ?? [];
    return name === undefined ? { name: line, bytes: 0 } : { name, bytes: Number(bytes) };
  });
}
