// no-undeclared-dependency
import fastCheck from 'fast-check';
export const undeclared = fastCheck;
