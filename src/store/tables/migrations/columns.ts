import type { ColumnDefinitionBuilder } from "kysely";

export function required(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull();
}

export function ofTenant(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull().references("nexus_tenants.name");
}
