export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
