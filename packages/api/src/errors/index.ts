export { MutiraoError } from './mutirao-error.ts';
export { registry, type ErrorCode, type ErrorEntry } from './registry.ts';
