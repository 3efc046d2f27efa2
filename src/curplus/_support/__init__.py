"""What serves all subpackages and knows no arrays: extras, names, files, processes."""
