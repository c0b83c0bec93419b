export { evaluate, type Attributes, type MatchResult } from './evaluate.ts';
export { explainMatch } from './explain-match.ts';
export { readAttribute } from './expression.ts';
export type { Atom, Comparison, Expression, Question, Requirements, RequirementsError } from './expression.ts';
export { findDoubts, findImpossible } from './find-doubts.ts';
export { gangWidthMax, gangWidthName, takeGangWidth, type GangWidth } from './gang-width.ts';
export { parseRequirements, requirementsDepthMax } from './parse-requirements.ts';
export { printExpression } from './print-requirements.ts';
