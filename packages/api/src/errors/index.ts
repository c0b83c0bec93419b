export { errorOfCode, errorOfRefusal, MutiraoError, type MutiraoErrorOptions } from './mutirao-error.ts';
export { isErrorCode, registry, type ErrorCode, type ErrorEntry, type StatusName } from './registry.ts';
