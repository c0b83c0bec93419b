export {
  Content,
  Hello,
  InputFile,
  IntegerRange,
  Limits,
  OutputFile,
  QuotaUse,
  Reason,
  ReasonValue,
  Root,
  TaskTemplate,
} from './generated/mutirao/common/v1/common.ts';
