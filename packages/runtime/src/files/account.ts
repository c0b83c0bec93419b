import { userInfo } from 'node:os';

/**
 * The name of the account that this process runs as; its number where it has no name, as in a container that runs as any user. Never throws.
 *
 * What asks for an account by name, such as `squeue --user`, takes the number too.
 */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 0);
  }
}
