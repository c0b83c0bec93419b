export { keepInside } from './keep-inside.ts';
export { expandPathVariables, pathVariablesOf, type PathPlace, type PathVariables } from './path-variables.ts';
export { quoteForShell } from './shell-words.ts';
export {
  commandFromWords, escapeTemplate, hasPlaceholder, parseTemplate, renderCommand, renderPath, type Template, type TemplatePart,
} from './template.ts';
