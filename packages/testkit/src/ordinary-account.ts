/**
 * The command with what makes it run as an ordinary account would: modes of files hold for it too. As root, the
 * capability to pass them over is taken from it; files that
 * root owns it may read all the same.
 */
export function asOrdinaryAccount(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return process.getuid?.() === 0
    ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all', '--', ...command]
    : command;
}
