/**
 * The folder that a command runs in. Where it has been removed, or may not be read, the one that the shell remembers, and last the root: commands that need no folder work all the same.
 */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/';
  }
}
