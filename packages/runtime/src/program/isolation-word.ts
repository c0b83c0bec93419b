import { MutiraoError } from '@mutirao/api/errors';

/** How an agent keeps tasks apart, where another account does it. */
export interface IsolationAccount {
  readonly account: string;
}

/** How an agent is asked to keep tasks apart; `auto` isolates tasks of other users where bubblewrap works. */
export type IsolationMode = 'auto' | 'bubblewrap' | 'none' | IsolationAccount;

/** Reads what `--isolation` says, to an agent or to what starts agents. @throws {MutiraoError} MUT_BAD_CONFIG */
export function readIsolationMode(word: string): IsolationMode {
  if (word === 'auto' || word === 'bubblewrap' || word === 'none') return word;
  const account = /^account=([A-Za-z_][\w.-]{0,63}\$?)$/.exec(word)?.[1];
  if (account !== undefined) return { account };
  throw new MutiraoError('MUT_BAD_CONFIG', `--isolation is "${word}"; expected auto, bubblewrap, account=NAME or none`);
}
