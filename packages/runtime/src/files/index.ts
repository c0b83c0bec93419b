export { mutiraoHome } from './home.ts';
export { ensureToken, makeToken, readToken, tokenPath } from './token.ts';
export { writeAtomic } from './write-atomic.ts';
