# Completion of sakerd for fish.
complete -c sakerd -f
complete -c sakerd -l config -r -F -d 'The configuration, default /etc/saker/agent.toml'
complete -c sakerd -l check -d 'Read the configuration, say what is wrong with it, and stop'
complete -c sakerd -l print-config -d 'Print the configuration in force, secrets hidden, and stop'
complete -c sakerd -l version -d 'Print the version and stop'
complete -c sakerd -l help -d 'Print the options and stop'
