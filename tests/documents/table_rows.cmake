# table_rows(<variable> <table> <awk program>): sets the variable to the list of lines that the program prints for the rows of a table of
# spellings, whose columns are separated by tabs.
function(table_rows variable table program)
  execute_process(COMMAND awk "-F\t" "!/^#/ ${program}" "${table}" OUTPUT_VARIABLE rows RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "awk cannot read ${table}")
  endif()
  string(REPLACE ";" "\\;" rows "${rows}")
  string(REPLACE "\n" ";" rows "${rows}")
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()
