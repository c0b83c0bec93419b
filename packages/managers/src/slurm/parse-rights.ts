/** Whether Slurm runs as a user, or it is root, from what `scontrol show config` wrote: `SlurmUser = slurm(64030)`. */
export function isSlurmUser(config: string, user: string): boolean {
  return user === 'root' || /^SlurmUser\s*=\s*([^\s(]+)/m.exec(config)?.[1] === user;
}

/**
 * Whether Slurm's accounting has a user as an operator or administrator, from what
 * `sacctmgr --parsable2 show user format=user,adminlevel` wrote: `ana|Operator`.
 */
export function isOperator(users: string, user: string): boolean {
  return users.split('\n').some((line) => {
    const [name, level = ''] = line.trim().split('|');
    return name === user && /^(?:Operator|Administrator)$/.test(level);
  });
}
